"""Explain on a past that messages alone did not make: sweeps, raised versions, what is lost or broken."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from damage import DAYS
from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_core.pipeline.basis import EXACT, NOW, TODAY
from msgx_core.pipeline.explain import Explainer, Explanation
from msgx_core.pipeline.history_of import versions_of
from msgx_core.pipeline.past import Past
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.watching import Watched
from msgx_core.ports import RawText
from msgx_core.ports.operations import Audit, Row
from verified import Keeps, archived
from wire import adft, error_answer, fdel, flop, fltr, gate, message, reference, schedule

LATE = "20MAR270805"
WHO = Audit("test", "above what was seen")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    archive = FsspecArchive.in_folder(tmp_path / "archive")
    with closing_system(tmp_path / "store.db", archive=archive, history=Keeps()) as made:
        yield made
    archive.close()


def send(system: System, *raws: bytes) -> list[int]:
    """One after the other, each at a time of its own."""
    ids = []
    for raw in raws:
        system.clock.advance(1)
        ids += system.send([raw])
        system.drain()
    return ids


def sweep(system: System) -> int:
    system.clock.advance(timedelta(days=3))
    archived_ = system.pipeline.sweep.run().archived
    system.clock.advance(1)
    return archived_


def sql(system: System, text: str) -> None:
    with system.store.connection.write():
        system.store.connection.run(text)


def explained(system: System, msg_id: int) -> Explanation:
    assert system.archive is not None
    policies = Policies.kept_in(system.store, system.policy, ZoneInfo)
    kept = archived(system)

    def text(row: Row) -> RawText | None:
        return kept(row) or system.inbox.fetch(row["MSG_ID"])

    explainer = Explainer(
        system.store,
        text,
        system.codec,
        policies,
        system.clock.now(),
        steps=system.archive.steps,
    )
    found = explainer.explain(msg_id)
    assert found is not None
    return found


def told(found: Explanation) -> list[str]:
    return [f"{step.source}: {step.result}" for step in found.steps]


def put(found: Explanation, flid: int) -> tuple[int | None, int]:
    """The version that a flight had before and has after."""
    assert found.change is not None
    (one,) = [each for each in found.change.flights if each.state.flid == flid]
    before = found.before.get(flid)
    return None if before is None else before.version, one.state.version


LOSSES = {
    "nothing is lost": (),
    "the events": ("DELETE FROM MSG_EVENT",),
    "the first message": ("DELETE FROM PROC_STATE WHERE MSG_ID = 1",),
    "events and first message": ("DELETE FROM MSG_EVENT", "DELETE FROM PROC_STATE WHERE MSG_ID = 1"),
    "the events of the first life": ("DELETE FROM MSG_EVENT WHERE STATE_VERSION < 3",),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_around_a_flight_that_left_for_the_history(system: System, loss: str) -> None:
    """D-07, D-33, D-37: late news of an archived flight, the record that brings it back, and after."""
    first, gate_id = send(system, schedule("DNLD", [fltr(1), fltr(2, LATE)]), flop(1, "GTDT", gate("A1")))
    assert sweep(system) == 1
    late, back, after = send(
        system, flop(1, "GTDT", gate("A2")), adft(fltr(1, LATE)), flop(1, "GTDT", gate("A3"))
    )
    assert (first, gate_id) == (1, 2)
    for statement in LOSSES[loss]:
        sql(system, statement)
    found = explained(system, late)
    assert (found.row["STATE"], found.row["REASON"]) == ("SKIPPED", "flight-archived")
    assert found.note is None, (found.basis, told(found))
    sources = [step.source for step in found.steps]
    assert sources.index("D-18") < sources.index("IMP §12.2, D-18") < sources.index("D-07, D-37")
    found = explained(system, back)
    assert found.note is None
    if found.basis == EXACT:
        assert put(found, 1) == (None, 4)
    found = explained(system, after)
    assert found.note is None
    if found.basis == EXACT:
        assert put(found, 1) == (4, 5)
    if loss in ("nothing is lost", "the events", "the events of the first life"):
        assert {explained(system, each).basis for each in (late, back, after)} == {EXACT}


def test_a_main_flight_whose_child_left(system: System) -> None:
    """D-21, D-33: it stepped without a message; both are explained on what was there then."""
    send(system, adft(fltr(1, LATE)), adft(fltr(2, MAID="1")))
    before, leaves = send(system, flop(1, "GTDT", gate("A1")), flop(2, "GTDT", gate("A1")))
    assert sweep(system) == 1
    (after,) = send(system, flop(1, "GTDT", gate("A2")))
    assert put(explained(system, before), 1) == (2, 3)
    assert put(explained(system, leaves), 2) == (1, 2)
    found = explained(system, after)
    assert (found.basis, put(found, 1)) == (EXACT, (4, 5))
    assert found.before[1].mafl == ()

    def past(world: Watched) -> Past:
        policies = Policies.kept_in(system.store, system.policy, ZoneInfo)
        steps = system.archive.steps  # type: ignore[union-attr]
        return Past(system.store, archived(system), system.codec, policies, steps, world)

    versions = versions_of(1, system.store, past)
    values = [(each.event["STATE_VERSION"], each.after is not None) for each in versions]
    assert values == [(1, True), (2, True), (3, True), (4, True), (5, True)]


def test_over_raised_versions(system: System) -> None:
    """D-31: live flights and floors alike."""
    send(system, schedule("DNLD", [fltr(1), fltr(2, LATE)]))
    assert sweep(system) == 1
    system.store.raise_versions(1000, WHO, system.clock.now())
    late, back, on = send(
        system, flop(1, "GTDT", gate("A1")), adft(fltr(1, LATE)), flop(2, "GTDT", gate("A1"))
    )
    assert [explained(system, each).note for each in (late, back, on)] == [None, None, None]
    assert put(explained(system, back), 1) == (None, 1003)
    assert put(explained(system, on), 2) == (1001, 1002)


def test_a_sweep_after_the_message_is_not_before_it(system: System) -> None:
    """D-33: late news of a deleted flight that left afterwards."""
    _, _, late = send(system, schedule("DNLD", [fltr(1)]), fdel(1), flop(1, "GTDT", gate("A1")))
    assert sweep(system) == 1
    found = explained(system, late)
    assert (found.row["REASON"], found.note, found.basis) == ("flight-deleted", None, EXACT)


def test_the_rule_of_a_dead_message_is_told_once(system: System) -> None:
    """D-25: where it failed, with its place."""
    ids = send(
        system,
        b"<MSG>",
        schedule("DNLD", [fltr(1)], recs=3),
        adft(fltr(1)),
        adft(fltr(1, LATE)),
        flop(1, "FDEL", ""),
    )
    for msg_id in ids:
        found = explained(system, msg_id)
        if found.row["STATE"] == "DEAD":
            assert len([each for each in told(found) if str(found.row["REASON"]) in each]) == 1, told(found)
            assert found.note is None
    assert [explained(system, each).row["STATE"] for each in ids].count("DEAD") == 4
    sql(system, f"UPDATE PROC_STATE SET REASON = 'recs-missing' WHERE MSG_ID = {ids[1]}")
    found = explained(system, ids[1])
    assert "recs-mismatch" in str(found.note)
    assert len([each for each in told(found) if "recs-" in each]) == 2


def test_one_that_waits(system: System) -> None:
    """IMP §5.1: on the state of now, which is the one that it will meet."""
    send(system, schedule("DNLD", [fltr(1)]))
    (msg_id,) = system.send([flop(1, "GTDT", gate("A1"))])
    system.pipeline.intake.scan()
    found = explained(system, msg_id)
    assert (found.basis, put(found, 1)) == (NOW, (1, 2))
    assert any("it waits" in each for each in told(found))


def test_every_kind(system: System) -> None:
    """D-36: none is left without its rules, and none is decided otherwise than it was."""
    twice = flop(1, "GTDT", gate("A1"), seqn=900_001)
    ids = send(
        system,
        schedule("DNLD", [fltr(1), fltr(2, MAID="1")]),
        twice,
        twice,
        adft(fltr(3)),
        fdel(3),
        fdel(3),
        reference("GLST", "DNLD", ["<GCOD>A1</GCOD>"]),
        reference("RSTA", "DNLD", ["<RTYP>GATE</RTYP><RSID>A1</RSID><STAT>D</STAT>"]),
        schedule("RESP", [fltr(1)]),
        error_answer(CODE="1"),
        message("NOPE", "X", ""),
        schedule("DNLD", []),
        b"",
    )
    for msg_id in ids:
        found = explained(system, msg_id)
        assert found.note is None, (found.row, found.note)
        assert found.steps


def test_alerts_are_those_that_were_raised(system: System) -> None:
    """D-16, D-41: what is odd about a sender's schedule hangs on more than its flights."""
    send(system, schedule("DNLD", [fltr(n) for n in range(1, 31)], seqn=9_000))
    (msg_id,) = send(system, schedule("DNLD", [fltr(1)], seqn=8_000))
    rules = told(explained(system, msg_id))
    assert any("RECS_DROP" in each for each in rules)
    assert any("SEQN_REGRESSION" in each for each in rules)
    (alone,) = send(system, flop(1, "GTDT", gate("A1")))
    assert not any("RECS_DROP" in each for each in told(explained(system, alone)))


class Faulty:
    """A codec with a fault of its own."""

    def decode(self, raw: Any) -> Any:
        raise KeyError("oops")

    def locate(self, raw: Any, error: Any) -> None:
        """Nothing is found."""


def test_a_fault_of_ours_is_told(system: System) -> None:
    """H-06: not a crash of the explanation."""
    (msg_id,) = send(system, schedule("DNLD", [fltr(1)]))
    system.codec = Faulty()
    found = explained(system, msg_id)
    assert any("codec-exception:KeyError" in each for each in told(found))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE FLIGHT_SCHD SET CONTENT = '{' WHERE FLID = 1",
        "UPDATE FLIGHT_SCHD SET SODT_AT = 'x', CREATED_AT = 'x'",
        "UPDATE PROC_STATE SET NEXT_ATTEMPT_AT = 'x', RECEIVED_AT = 'x', FINISHED_AT = 'x'",
        "UPDATE PROC_STATE SET COVERAGE = '[1]', SNDR = CAST(x'ff' AS TEXT)",
        "UPDATE PROC_STATE SET APPLIED_AT = 'x'",
        'UPDATE PROC_STATE SET COVERAGE = \'{{"policy":7,"raw":[],"days":5}}\'',
        "UPDATE FLIGHT_VERSION_FLOOR SET UPDATED_AT = 'x'",
        "UPDATE OPS_AUDIT SET DETAIL = NULL, CREATED_AT = 'x'",
        "UPDATE STORE_INFO SET VALUE = '{' WHERE NAME LIKE 'pin.policy%'",
    ],
)
def test_what_cannot_be_read_stops_no_explanation(system: System, damage: str) -> None:
    """D-36: it says what it can."""
    send(system, schedule("DNLD", [fltr(1), fltr(2, LATE)]))
    assert sweep(system) == 1
    system.store.raise_versions(10, WHO, system.clock.now())
    ids = send(system, adft(fltr(1, LATE)), flop(1, "GTDT", gate("A1")), flop(2, "GTDT", gate("A1")))
    sql(system, damage.replace("{{", "{").replace("}}", "}"))
    for msg_id in (1, *ids):
        found = explained(system, msg_id)
        assert found.steps
        assert found.basis in (EXACT, NOW, TODAY)


def test_a_whole_day_and_what_it_deleted(tmp_path: Path) -> None:
    """D-11, D-33: absence deletes on the state of then, though a sweep has taken the flights since."""
    archive = FsspecArchive.in_folder(tmp_path / "archive")
    path = tmp_path / "store.db"
    with closing_system(path, config=DAYS, archive=archive, history=Keeps()) as system:
        _, second = send(system, schedule("DNLD", [fltr(1), fltr(2)]), schedule("DNLD", [fltr(1)]))
        assert sweep(system) == 2
        found = explained(system, second)
        assert (found.basis, found.note, put(found, 2)) == (EXACT, None, (1, 2))
        assert any(each.endswith("flights 2") for each in told(found))
    archive.close()
