"""Prometheus: what is told comes out under the names of the table, and no wire can make it grow."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from msgx_adapters.telemetry_prometheus import PrometheusTelemetry
from msgx_adapters.telemetry_prometheus.telemetry import MAX_SERIES, OTHER
from msgx_core.ports.metrics import METRICS, MetricKind, Reading
from msgx_core.testing.clock import ManualClock

AT = datetime(2027, 3, 14, 6, 30, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(AT)


@pytest.fixture
def telemetry(clock: ManualClock) -> PrometheusTelemetry:
    return PrometheusTelemetry(clock)


def samples(telemetry: PrometheusTelemetry, *readings: Reading) -> dict[str, float]:
    """Series by name and labels, without the times of their making."""
    text = telemetry.exposition(readings)[0].decode()
    return {
        s.name + "".join(f" {k}={v}" for k, v in sorted(s.labels.items())): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
        if not s.name.endswith("_created")
    }


def test_a_counter(telemetry: PrometheusTelemetry) -> None:
    """`msgx_terminal_total{state,code}` of the product."""
    telemetry.count("msgx.process.terminal", state="DEAD", code="PROTOCOL")
    telemetry.count("msgx.process.terminal", 2, state="DEAD", code="PROTOCOL")
    telemetry.count("msgx.intake.scanned", 7)
    found = samples(telemetry)
    assert found["msgx_terminal_total code=PROTOCOL state=DEAD"] == 3
    assert found["msgx_intake_scanned_total"] == 7


def test_what_alert_rules_watch_is_there_before_its_first_count(telemetry: PrometheusTelemetry) -> None:
    """`increase()` of a series that begins with 1 is 0: the first event would not ring."""
    found = samples(telemetry)
    assert found["msgx_loop_errors_total loop=pump"] == 0
    assert found["msgx_snapshot_flags_total flag=EMPTY"] == 0
    telemetry.count("msgx.snapshot.flags", flag="EMPTY")
    assert samples(telemetry)["msgx_snapshot_flags_total flag=EMPTY"] == 1


def fail_after_five(clock: ManualClock) -> None:
    """Work that takes its time and fails."""
    clock.advance(timedelta(seconds=5))
    raise ValueError("no")


def test_a_stage_is_counted_timed_and_its_success_noted(
    telemetry: PrometheusTelemetry, clock: ManualClock
) -> None:
    """Each stage: a count, a duration, the time of the last success."""
    with telemetry.stage("apply", msg_id=1):
        clock.advance(timedelta(seconds=0.3))
    with pytest.raises(ValueError, match="no"), telemetry.stage("apply"):
        fail_after_five(clock)
    found = samples(telemetry)
    assert found["msgx_stage_total result=ok stage=apply"] == 1
    assert found["msgx_stage_total result=error stage=apply"] == 1
    assert found["msgx_stage_duration_seconds_count stage=apply"] == 2
    assert found["msgx_stage_duration_seconds_sum stage=apply"] == pytest.approx(5.3)
    assert found["msgx_stage_last_success_timestamp_seconds stage=apply"] == AT.timestamp() + 0.3


def test_gauges_belong_to_their_scrape(telemetry: PrometheusTelemetry) -> None:
    """A gauge that is not read is not shown: an old value would be a lie."""
    readings = [
        Reading("msgx.event.pending", 3, ("KAFKA:msg",)),
        Reading("msgx.event.pending", 4, ("KAFKA:schd",)),
        Reading("msgx.lease.held", 1),
    ]
    found = samples(telemetry, *readings)
    assert found["msgx_event_pending target=KAFKA:msg"] == 3
    assert found["msgx_event_pending target=KAFKA:schd"] == 4
    assert found["msgx_lease_held"] == 1
    assert not [name for name in samples(telemetry) if name.startswith("msgx_event_pending")]


def test_the_series_of_a_metric_are_bounded(telemetry: PrometheusTelemetry) -> None:
    """Tags outside the model come from the wire: a thousand of them are not a thousand series."""
    for number in range(1000):
        telemetry.count("msgx.decode.ignored", tag=f"T{number:03}")
    found = {name: n for name, n in samples(telemetry).items() if name.startswith("msgx_decode_ignored")}
    assert len(found) <= MAX_SERIES + 1
    assert sum(found.values()) == 1000
    assert found[f"msgx_decode_ignored_total tag={OTHER}"] == 1000 - MAX_SERIES


def test_what_is_not_in_the_table_is_dropped(telemetry: PrometheusTelemetry) -> None:
    """Telemetry never fails."""
    telemetry.count("msgx.no.such", 1, more="x")
    telemetry.observe("msgx.no.such", 1.0)
    telemetry.event("anything", msg_id=1)
    assert "no_such" not in telemetry.exposition()[0].decode()


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.exposed)
def test_names_are_legal_and_say_their_kind(metric: object) -> None:
    """Prometheus' own rules for names; each has a meaning."""
    from msgx_core.ports.metrics import Metric

    assert isinstance(metric, Metric)
    assert re.fullmatch(r"msgx_[a-z0-9_]+", metric.exposed)
    assert metric.exposed.endswith("_total") == (metric.kind is MetricKind.COUNTER)
    if metric.kind is MetricKind.HISTOGRAM:
        assert metric.exposed.endswith("_seconds")
    assert metric.meaning
