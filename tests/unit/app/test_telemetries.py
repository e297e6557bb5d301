"""Lines, numbers and spans are told the same; a message's id is in each of its lines."""

from __future__ import annotations

import io
import json
import threading
from datetime import UTC, datetime

import pytest

from msgx_adapters.telemetry_structlog import StructlogTelemetry
from msgx_app.backends import open_metrics
from msgx_app.daemon.tally import Tally
from msgx_app.telemetries import Telemetries
from msgx_core.testing.clock import ManualClock

AT = datetime(2027, 3, 14, tzinfo=UTC)


def test_everybody_is_told() -> None:
    clock = ManualClock(AT)
    first, second, metrics = Tally(clock), Tally(clock), open_metrics(clock)
    telemetry = Telemetries(first, second, metrics)
    telemetry.count("msgx.intake.inserted", 2)
    telemetry.observe("msgx.process.duration", 0.5, state="DEAD")
    telemetry.event("told", msg_id=1)
    with telemetry.stage("apply"):
        pass
    assert first.total("msgx.intake.inserted") == second.total("msgx.intake.inserted") == 2
    assert [event.name for event in second.events()] == ["told"]
    text = metrics.exposition()[0].decode()
    assert "msgx_intake_inserted_total 2.0" in text
    assert 'msgx_stage_total{result="ok",stage="apply"} 1.0' in text


def test_a_stage_that_fails_fails_for_everybody_and_the_error_passes() -> None:
    clock = ManualClock(AT)
    one, other = open_metrics(clock), open_metrics(clock)
    with pytest.raises(ValueError, match="no"), Telemetries(one, other).stage("apply"):
        raise ValueError("no")
    for metrics in (one, other):
        assert 'msgx_stage_total{result="error",stage="apply"} 1.0' in metrics.exposition()[0].decode()


def test_the_id_of_a_message_is_in_every_line_of_its_stages() -> None:
    """Bound in this thread, for as long as the stage lasts; a line's own field wins."""
    stream = io.StringIO()
    lines = StructlogTelemetry(clock=ManualClock(AT), stream=stream)
    telemetry = Telemetries(lines, Tally(ManualClock(AT)))
    with telemetry.stage("process", msg_id=5):
        telemetry.event("first")
        with telemetry.stage("apply", flid=7):
            telemetry.event("second")
            telemetry.event("third", msg_id=6)
        thread = threading.Thread(target=lambda: telemetry.event("elsewhere"))
        thread.start()
        thread.join()
        telemetry.event("fourth")
    telemetry.event("after")
    found = {line["event"]: line for line in map(json.loads, stream.getvalue().splitlines())}
    ids = {name: (line.get("msg_id"), line.get("flid")) for name, line in found.items()}
    assert ids == {
        "first": (5, None),
        "second": (5, 7),
        "third": (6, 7),
        "elsewhere": (None, None),
        "fourth": (5, None),
        "after": (None, None),
    }
