"""Write-back: the mark in the mailbox, its four results, and intake that it never hides (IMP §6, D-38)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from attrs import evolve

from embedded import System, closing_system
from msgx_core.errors import Transient
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports import Silent
from msgx_core.ports.operations import Audit
from msgx_core.rules.retry import WritebackPolicy
from wire import flop, fltr, gate, schedule

R = timedelta(days=7)


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        yield made


def owed(system: System) -> list[int]:
    return [row["MSG_ID"] for row in system.store.writebacks()]


def test_more_finished_rows_than_a_page_hide_no_new_message() -> None:
    """With a mailbox that cannot be marked, the scan pages past what waits (D-35, H-02, R-028)."""
    with closing_system(None, config=PipelineConfig(claim_batch=10)) as system:
        system.send([schedule("DNLD", [fltr(1)])])
        system.send([flop(1, "GTDT", gate(f"B{n}")) for n in range(50)])
        system.inbox.refuse_marks = dict.fromkeys(range(1, 200), "lock wait timeout")
        system.drain()
        assert len(owed(system)) == 51
        new = system.send([flop(1, "GTDT", gate("C1"))])
        system.drain()
        assert system.fates()[new[0]][0] == "SUCCEEDED"
        assert system.document(1)["GTDT"][0]["GATE"] == "C1"


def test_a_row_that_cannot_be_marked_backs_off_and_harms_no_other(system: System) -> None:
    """R-140, R-146, D-26: counted on that row, due again after the pause."""
    ids = system.send([flop(n, "GTDT", gate("B1")) for n in (1, 2, 3)])
    system.inbox.refuse_marks = {ids[1]: "lock wait timeout"}
    system.drain()
    assert owed(system) == [ids[1]]
    assert system.inbox.scan(0, 10) == [ids[1]]
    assert system.pipeline.writeback.sweep().done == 0
    system.inbox.refuse_marks = {}
    system.clock.advance(5)
    assert system.pipeline.writeback.sweep().done == 1
    assert system.inbox.scan(0, 10) == []


def test_a_mark_by_someone_else_counts_as_written(system: System) -> None:
    """0 rows written and the row exists: success, never overwritten (R-144)."""
    ids = system.send([flop(1, "GTDT", gate("B1"))])
    system.start()
    system.pipeline.intake.scan()
    system.pipeline.pump.tick()
    system.inbox.mark([(ids[0], system.clock.now() - timedelta(days=1))])
    before = system.inbox.rows()
    assert system.pipeline.writeback.sweep().done == 1
    assert system.inbox.rows() == before
    assert owed(system) == []


def test_a_row_that_is_gone_is_abandoned_with_an_alert(system: System) -> None:
    """MISSING_ROW at once; abandoned is not written (R-145, R-147, R-433, R-453)."""
    ids = system.send([flop(1, "GTDT", gate("B1"))])
    system.start()
    system.pipeline.intake.scan()
    system.pipeline.pump.tick()
    system.inbox.delete(ids[0])
    assert system.pipeline.writeback.sweep().abandoned == 1
    row = system.store.message(ids[0])
    assert row is not None
    assert row["BACKFILL_ABANDONED_REASON"] == "MISSING_ROW"
    assert "BACKFILL_AT" not in row
    assert [a["CODE"] for a in system.store.alerts()] == ["MISSING_ROW"]
    assert [r["MSG_ID"] for r in system.store.writebacks(abandoned=True)] == ids


class Heard(Silent):
    """Telemetry that remembers events."""

    def __init__(self) -> None:
        self.why: list[object] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.why.append(fields.get("why"))


def test_why_a_mark_was_refused_is_told_in_words(system: System) -> None:
    """The event says `MISSING_ROW`, as the row does, or what the mailbox said."""
    ids = system.send([flop(1, "GTDT", gate("B1")), flop(1, "GTDT", gate("B2"))])
    system.start()
    system.pipeline.intake.scan()
    heard = Heard()
    sweep = evolve(system.pipeline.writeback, telemetry=heard)
    system.pipeline.pump.tick()
    system.inbox.delete(ids[0])
    sweep.sweep()
    system.pipeline.pump.tick()
    system.inbox.refuse_marks = {ids[1]: "lock wait timeout"}
    sweep.sweep()
    assert heard.why[0] == "MISSING_ROW"
    assert "lock wait timeout" in str(heard.why[1])


def test_raw_text_that_is_gone_is_malformed(system: System) -> None:
    """R-062, H-10: absent or blank text is `raw-missing`."""
    system.start()
    ids = system.send([flop(1, "GTDT", gate("B1")), b"  \n "])
    system.pipeline.intake.scan()
    system.inbox.delete(ids[0])
    system.drain()
    assert set(system.fates().values()) == {("DEAD", "MALFORMED", "raw-missing")}


def test_past_r_the_last_failed_try_abandons(system: System) -> None:
    """R-434: TRANSIENT_DEADLINE never before a try at or after R; a resume grants one more (D-38, R-139,
    R-146)."""
    ids = system.send([flop(1, "GTDT", gate("B1"))])
    system.inbox.refuse_marks = {ids[0]: "lock wait timeout"}
    system.drain()
    system.clock.advance(R - timedelta(seconds=1))
    system.pipeline.writeback.sweep()
    assert owed(system) == ids
    system.clock.advance(2)
    assert system.pipeline.writeback.sweep().abandoned == 1
    assert [a["CODE"] for a in system.store.alerts()] == ["TRANSIENT_DEADLINE"]
    assert system.pipeline.writeback.sweep().done == 0
    system.inbox.refuse_marks = {}
    system.store.resume_writebacks(ids, Audit("test", "mailbox mended"), system.clock.now())
    assert system.pipeline.writeback.sweep().done == 1


def test_an_unreachable_mailbox_abandons_nothing_however_late(system: System) -> None:
    """D-38: not while the whole mailbox is unreachable; nothing is counted (D-04)."""
    ids = system.send([flop(1, "GTDT", gate("B1"))])
    system.start()
    system.pipeline.intake.scan()
    system.pipeline.pump.tick()
    system.inbox.outage = "gone away"
    for _ in range(30):
        system.clock.advance(R)
        with pytest.raises(Transient):
            system.pipeline.writeback.sweep()
    row = system.store.message(ids[0])
    assert row is not None
    assert row["BACKFILL_ATTEMPTS"] == 0
    system.inbox.outage = None
    assert system.pipeline.writeback.sweep().done == 1


def test_many_attempts_raise_one_alert_and_go_on() -> None:
    """R-151, R-435: the number only alerts."""
    config = PipelineConfig(writeback=WritebackPolicy(alert_attempts=3))
    with closing_system(None, config=config) as system:
        ids = system.send([flop(1, "GTDT", gate("B1"))])
        system.inbox.refuse_marks = {ids[0]: "lock wait timeout"}
        system.drain()
        for _ in range(6):
            system.clock.advance(600)
            system.pipeline.writeback.sweep()
        assert [a["CODE"] for a in system.store.alerts()] == ["BACKFILL_ATTEMPTS"]
        assert owed(system) == ids


def test_a_shadow_instance_writes_nothing_into_the_mailbox() -> None:
    """D-42, R-035."""
    config = evolve(PipelineConfig(), mailbox_write_enabled=False)
    with closing_system(None, config=config) as system:
        ids = system.send([flop(1, "GTDT", gate("B1"))])
        assert system.drain().finished == 1
        assert system.inbox.scan(0, 10) == ids
