"""Settings reach the rules that they are for."""

from __future__ import annotations

from datetime import timedelta

from msgx_app.container import pipeline_config_of
from msgx_app.settings import load_settings
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.rules.ended import EndedWindows
from msgx_core.rules.retry import WritebackPolicy

CODE = {"msgx.airport.code": "PVG"}


def configured(**given: str) -> PipelineConfig:
    return pipeline_config_of(load_settings(None, {}, CODE | given).settings)


def test_r_is_a_setting() -> None:
    """R-149, R-152: `msgx.pipeline.overdue-backfill`, seven days unless told otherwise."""
    assert configured().writeback.overdue == timedelta(days=7)
    told = configured(**{"msgx.pipeline.overdue-backfill": "36h"})
    assert told.writeback.overdue == timedelta(hours=36)


def test_what_is_not_set_is_what_the_rules_have() -> None:
    """R-408: 90 days of schedule log; windows and pauses as the core has them without an application."""
    made = configured()
    assert made.retention.snapshot_log == timedelta(days=90)
    assert made.ended == EndedWindows()
    assert tuple(made.writeback.backoff) == tuple(WritebackPolicy().backoff)
