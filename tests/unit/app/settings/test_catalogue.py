"""The catalogue holds exactly the settings of the parameter table, with its defaults."""

from __future__ import annotations

import subprocess
import sys

import pytest
from attrs import evolve
from attrs.exceptions import FrozenInstanceError
from typed_settings.cls_utils import deep_options

from msgx_app.settings import Settings, catalogue, describe, load_settings
from msgx_app.settings.flow import AirportSettings
from msgx_app.settings.spec import walk

STEPS = "1s 5s 30s 2m 10m 30m 1h"
# The parameter table, by group; what follows the last equals sign is the default.
TABLE = {
    "airport": "code=none, required|timezone=Asia/Shanghai|day-cutover=00:00",
    "sis": "timezone=the airport's|max-message-bytes=10485760",
    "identity": "include-day-boundary=false",
    "pipeline": "poll-interval=200ms|poll-interval-idle=2s|claim-batch=200|max-attempts=8"
    f"|backoff={STEPS}|backfill-batch=200|backfill-interval=2s|backfill-backoff=5s 30s 2m 10m"
    "|backfill-max-attempts=20|overdue-backfill=7d|inbox-retention=31d|event-retention=7d"
    "|proc-retention=90d|snap-log-retention=90d|request-retention=90d|ledger-retention=off",
    "archive": "url=file:data/archive with an SQLite store, else off|retention=90d",
    "ref": "allow-empty=false",
    "mailbox": "url=sqlite:///data/mailbox.db|write-enabled=true",
    "mailbox.table": "inbound=CMINMSGS|outbound=COUTMSGS",
    "mailbox.column": "inbound-id=CMINMSGS_ID|inbound-text=CMINMSGS_CLOB_MSG"
    "|inbound-received=CMINMSGS_DATE_RECEIVED|inbound-processed=CMINMSGS_DATE_PROCESSED"
    "|inbound-status=CMINMSGS_STATUS|outbound-id=COUTMSGS_ID|outbound-text=COUTMSGS_CLOB_MSG"
    "|outbound-inserted=COUTMSGS_DATE_INSERTED|outbound-sent=COUTMSGS_DATE_SENT|outbound-routing-id=ROUTINGID",
    "event": f"batch=500|backoff={STEPS}|max-attempts=8",
    "schd": "flush-interval=1s|flush-limit=200"
    "|records-per-message=msgx.schd.flush-limit|dnld-coverage=window",
    "flop": "whitelist=baseline|missing-flight=create",
    "route": "max-points=4",
    "kafka.topic": "msg=KAFKA_MSG|schd=KAFKA_SCHD",
    "kafka": "max-message-bytes=1000000",
    "events": "suppress-unchanged=false|time-format=sis",
    "requests": "daily-at=off|timeout=30m|late-window=24h",
    "outbound": "sender=RMS",
    "outbound.routing-id": "schedule=RQFD|reference=RQRD",
    "history": "url=none",
    "history.window": "sodt=48h|cncl=48h|naat=48h|neat=48h|deleted=48h",
    "history ": "retention=off|null-day-retention=off",
    "lease": "expiry=3s|renew=1s",
    "store": "url=sqlite:///data/store.db|prepared=auto",
    "cache": "url=memory:",
    "bus": "url=file:data/bus",
    "http": "bind=127.0.0.1:8080|console=true|tokens=none|rate=50|body-timeout=30s",
    "otel": "endpoint=off",
    "timeouts": "mailbox=5s|store=5s|store-statement=60s|cache=2s|bus=10s|history=10s",
}


def table() -> dict[str, str]:
    pairs = [
        (group.strip(), line.split("=", 1)) for group, lines in TABLE.items() for line in lines.split("|")
    ]
    return {f"msgx.{group}.{name}": default for group, (name, default) in pairs}


def test_the_code_has_the_settings_of_the_table_in_its_order() -> None:
    assert [(key, setting.default_text) for key, setting in catalogue().items()] == list(table().items())


def test_every_setting_says_what_it_means_and_what_is_legal() -> None:
    """R-446: the table of parameters that `msgx config show` prints."""
    for setting in catalogue().values():
        assert setting.spec.meaning
        assert setting.spec.kind.legal


def test_environment_names_are_unique() -> None:
    names = [setting.env for setting in catalogue().values()]
    assert len(set(names)) == len(names)
    assert "MSGX_PIPELINE_CLAIM_BATCH" in names


def test_the_catalogue_agrees_with_typed_settings_own_view() -> None:
    assert [option.path for option in deep_options(Settings)] == [one.path for one in walk(Settings)]


def test_what_is_shown_by_default_is_what_the_table_says() -> None:
    loaded = load_settings(None, {}, {"msgx.airport.code": "PVG"})
    for row in describe(loaded):
        if row.origin == "default" and not row.key.endswith(".url"):
            assert row.value_text == row.default_text, row.key


def test_settings_are_frozen_and_built_without_a_loader_in_tests() -> None:
    settings = Settings(airport=AirportSettings(code="PVG"))
    assert settings.pipeline.claim_batch == 200
    assert evolve(settings.pipeline, claim_batch=5).claim_batch == 5
    with pytest.raises(FrozenInstanceError):
        settings.pipeline = settings.pipeline  # type: ignore[misc]


def test_the_package_is_light_until_something_is_loaded() -> None:
    code = (
        "import sys, msgx_app.settings as s; print('typed_settings' in sys.modules, s.find_config.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "find_config"]
