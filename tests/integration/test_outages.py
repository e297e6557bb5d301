"""Outages and failures: what is the server's fault is not the message's (D-04, D-05, IMP §9.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import define

from embedded import SimulatedCrash, System, closing_system
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_core.errors import MessageError, Rejected, Transient
from msgx_core.model.message import DecodedMessage
from msgx_core.ports import RawText
from msgx_core.ports.operations import Audit
from msgx_core.rules.retry import MESSAGE_BACKOFF
from wire import flop, fltr, gate, schedule

AUDIT = Audit("test", "looked at it")


@define
class MoodyCodec:
    """A codec of ours with a bug that a deployment may repair."""

    broken: Exception | None = None
    inner: Any = None

    def decode(self, raw: RawText) -> DecodedMessage:
        """Decode, or fail as told."""
        if self.broken is not None:
            raise self.broken
        return LxmlCodec().decode(raw)

    def locate(self, raw: RawText, error: MessageError) -> None:
        """Nothing to add."""


@pytest.fixture
def codec() -> MoodyCodec:
    return MoodyCodec()


@pytest.fixture
def system(codec: MoodyCodec) -> Iterator[System]:
    with closing_system(None, codec=codec) as made:
        made.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("B1"))])
        yield made


def drain_through_outage(system: System, service: str) -> None:
    """One try while the service is down: named, nothing counted."""
    with pytest.raises(Transient) as failed:
        system.drain()
    assert failed.value.service == service
    system.pipeline.outages.failed(failed.value)


def attempts(system: System) -> list[int]:
    rows = [system.store.message(msg_id) for msg_id in system.fates()]
    return [row["ATTEMPTS"] for row in rows if row is not None]


def test_a_cache_outage_keeps_the_message_at_the_head(system: System) -> None:
    """R-160, R-219, R-450: Applied once, waits at ② uncounted, then only finished (R-085, R-377, D-02,
    D-04)."""
    system.start()
    system.cache.outage = "connection refused"
    for _ in range(20):
        drain_through_outage(system, "cache")
    assert [fate[0] for fate in system.fates().values()] == ["PENDING", "PENDING"]
    assert attempts(system) == [0, 0]
    assert system.document(1)["STATE_VERSION"] == 1
    system.cache.outage = None
    system.drain()
    assert [fate[0] for fate in system.fates().values()] == ["SUCCEEDED", "SUCCEEDED"]
    assert system.document(1)["STATE_VERSION"] == 2
    assert len(system.store.flight_events(1)) == 2
    assert [a["CODE"] for a in system.store.alerts()] == ["OUTAGE"]
    results = [row["RESULT"] for row in system.store.snapshots()]
    assert results == ["REPLAY_SKIPPED"]


def test_a_mailbox_outage_is_no_empty_mailbox(system: System) -> None:
    """R-024: the scan fails, names the culprit, and goes on where it was."""
    system.inbox.outage = "gone away"
    drain_through_outage(system, "mailbox")
    assert system.fates() == {}
    system.inbox.outage = None
    system.drain()
    assert set(attempts(system)) == {0}


def test_a_bus_outage_counts_no_attempt(system: System) -> None:
    """Events wait as they are, and go out in order (D-28)."""
    system.bus.outage = "no broker"
    for _ in range(10):
        drain_through_outage(system, "bus")
    assert {row["ATTEMPTS"] for row in system.store.events()} == {0}
    assert {row["STATUS"] for row in system.store.events()} == {"PENDING"}
    system.bus.outage = None
    system.drain()
    assert [r.key for r in system.bus.of("KAFKA_MSG")] == ["1", "1"]


def test_a_codec_fault_is_retried_with_back_off_then_dead(system: System, codec: MoodyCodec) -> None:
    """FAILED keeps the head; no queue jumping; used up → DEAD(EXHAUSTED) with the last reason
    (R-065, R-072, R-073, R-108, R-111, R-126)."""
    codec.broken = RuntimeError("bug")
    system.drain()
    first, second = system.fates()
    for step in MESSAGE_BACKOFF:
        assert system.fates()[first] == ("FAILED", "CODEC_ERROR", "codec-exception:RuntimeError")
        assert system.fates()[second][0] == "PENDING"
        assert system.drain().waiting_msg_id == first
        system.clock.advance(step.total_seconds() - 1)
        assert system.drain().finished == 0
        system.clock.advance(1)
        codec.broken = RuntimeError("bug")
        system.drain()
    assert system.fates()[first] == ("DEAD", "EXHAUSTED", "codec-exception:RuntimeError")
    assert [a["CODE"] for a in system.store.alerts()] == ["EXHAUSTED"]


def test_a_replay_runs_a_dead_message_under_its_identity(system: System, codec: MoodyCodec) -> None:
    """Attempts and times are reset, identity kept, other side untouched (R-120, R-046)."""
    codec.broken = RuntimeError("bug")
    for step in (*MESSAGE_BACKOFF, MESSAGE_BACKOFF[-1]):
        system.drain()
        system.clock.advance(step)
    first = min(system.fates())
    codec.broken = None
    system.drain()
    assert system.fates()[first][:2] == ("DEAD", "EXHAUSTED")
    results = system.pipeline.replay.replay([first, first + 1, 999], AUDIT)
    refused = {r.target: r.refused is not None for r in results}
    assert refused == {first: False, first + 1: True, 999: True}
    system.drain()
    assert system.fates()[first] == ("SUCCEEDED", None, None)
    assert system.inbox.scan(0, 10) == []


def test_a_dry_run_shows_the_effect_and_writes_nothing(system: System) -> None:
    """Preview on today's state (D-25)."""
    system.send([schedule("DNLD", [fltr(1), fltr(1)])])
    system.drain()
    last = max(system.fates())
    before = system.store.counts()
    preview = system.pipeline.replay.preview(last)
    assert preview is not None
    assert preview.refused is None
    assert (preview.outcome.code, preview.outcome.reason) == ("PROTOCOL", "duplicate-flid:1")
    assert system.store.counts() == before


def test_a_message_that_kills_the_process_runs_out_of_attempts(system: System, codec: MoodyCodec) -> None:
    """After an unclean end each try is bracketed; a try that was cut off counts (D-05)."""

    def kill(name: str) -> None:
        if name == "fetched":
            raise SimulatedCrash(name)

    system.on_step = kill
    for _ in range(9):
        with pytest.raises(SimulatedCrash):
            system.drain()
        system.restart(clean=False)
    system.on_step = lambda name: None
    system.start()
    first, second = system.fates()
    assert system.pipeline.pump.tick().msg_id == first
    assert system.fates()[first] == ("DEAD", "EXHAUSTED", "attempts-exhausted")
    system.drain()
    assert system.fates()[second][0] == "SUCCEEDED"


def test_a_clean_stop_raises_no_suspicion(system: System) -> None:
    """D-05: the hot path pays no commit for it."""
    system.drain()
    system.restart(clean=True)
    system.start()
    assert not system.pipeline.pump.suspect


def test_a_row_that_the_store_rejects_is_that_rows_failure(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAILED(INFRA) on the one row, then the rest goes on (D-04, R-118)."""
    system.start()

    def reject(store: Any, change: Any) -> int:
        raise Rejected("store-rejected:23514", "check failed")

    monkeypatch.setattr(type(system.store), "apply", reject)
    system.drain()
    assert next(iter(system.fates().values())) == ("FAILED", "INFRA", "store-rejected:23514")
    monkeypatch.undo()
    system.clock.advance(5)
    system.drain()
    assert {fate[0] for fate in system.fates().values()} == {"SUCCEEDED"}


def test_a_lost_cache_is_noticed_and_filled_again(system: System) -> None:
    """R-375, INV-5: Losing the cache loses nothing; a cache that had data and lost it raises CACHE_LOST
    (D-31)."""
    system.drain()
    system.cache.volatile = False
    system.cache.clear()
    assert system.pipeline.cache_keeper.ensure() == 1
    assert system.cache.get(1) is not None
    assert [a["CODE"] for a in system.store.alerts()] == ["CACHE_LOST"]
    assert system.pipeline.cache_keeper.ensure() is None


def test_a_drain_serves_what_answers_though_another_service_does_not(system: System) -> None:
    """A mailbox that cannot be reached keeps no event back; the drain still says who is down (D-04, D-26)."""
    system.start()
    system.pipeline.intake.scan()
    while system.pipeline.pump.tick().again:
        pass
    system.inbox.outage = "gone away"
    drain_through_outage(system, "mailbox")
    assert {row["STATUS"] for row in system.store.events()} == {"SENT"}
