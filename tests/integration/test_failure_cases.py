"""Cases from public failure reports of such systems that have no other test (`docs/failure-cases.md`)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from embedded import System, closing_system
from msgx_adapters.store_postgres import PostgresStore
from msgx_core.errors import Transient
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports import Store
from msgx_core.rules.policy import Policy
from msgx_core.testing.builders import AUDIT, NOW, close, dead
from services.postgres import POSTGRES, own_schema
from wire import flop, fltr, gate, schedule


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        yield made


def test_a_stop_before_their_processing_marks_no_rows(system: System) -> None:
    """R-036, R-135: rows that were taken in and not processed when the stop came have no mark, and come next.

    A system marked what it had fetched; what was in its memory at the stop was gone for ever.
    """
    ids = system.send([flop(n, "GTDT", gate("B1")) for n in range(1, 6)])
    system.start()
    system.pipeline.intake.scan()
    for _ in range(2):
        system.pipeline.pump.tick()
    # The stop comes here; what writes marks has had its turn.
    system.pipeline.writeback.sweep()
    system.restart(clean=True)
    marked = [row.msg_id for row in system.inbox.rows() if row.processed is not None]
    assert marked == ids[:2]
    system.drain()
    assert {state for state, _, _ in system.fates().values()} == {"SUCCEEDED"}
    assert system.inbox.scan(0, 99) == []


def test_a_week_without_a_service_dead_letters_nothing(system: System) -> None:
    """D-04, R-063: a system used up the attempts of every message while its cache was away.

    Longer than all back-offs together, with a try in every hour: nothing is counted, nothing ends.
    """
    ids = system.send([flop(n % 3 + 1, "GTDT", gate(f"B{n}")) for n in range(20)])
    system.start()
    for away in (system.cache, system.bus):
        away.outage = "down"
        for _ in range(7 * 24):
            with pytest.raises(Transient):
                system.drain()
            system.clock.advance(timedelta(hours=1))
        away.outage = None
    system.drain()
    assert [system.fates()[i] for i in ids] == [("SUCCEEDED", None, None)] * len(ids)
    assert {row["ATTEMPTS"] for row in system.store.events(limit=999)} == {0}


@pytest.fixture
def stores() -> Iterator[list[PostgresStore]]:
    """One store, seen by a holder and two operators."""
    with POSTGRES.found() as server, own_schema(server) as url:
        made = [PostgresStore.open(url) for _ in range(3)]
        assert made[0].acquire_lease("test", 60.0).granted
        yield made
        for store in made:
            store.close()


def test_two_replays_of_one_message_at_once_are_one(stores: list[PostgresStore]) -> None:
    """D-25: it goes back to the queue once; the other operator is told that there is nothing to do."""
    holder, *operators = stores
    ids = range(1, 41)
    close(holder, dead(), *ids)
    holder.writebacks_done([*ids], NOW)

    def replay(operator: Store) -> list[str | None]:
        return [operator.replay([i], (), AUDIT, NOW)[0].refused for i in ids]

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(replay, operators)
    for one, other in zip(first, second, strict=True):
        assert (one is None) != (other is None)
    assert holder.counts().messages == {"PENDING": len(ids)}
    assert len(holder.audit(999)) == len(ids)


def numbering_restarts(include_day: bool) -> list[tuple[str, str | None, str | None]]:
    """What comes of number 1 today and number 1 tomorrow, with another text."""
    policy = Policy(include_day_boundary=include_day)
    with closing_system(None, config=PipelineConfig(policy=policy)) as system:
        today = flop(1, "GTDT", gate("B1"), seqn=1)
        tomorrow = flop(1, "GTDT", gate("B2"), seqn=1).replace(b"<DTTM>20270314", b"<DTTM>20270315")
        system.send([today, tomorrow])
        system.drain()
        assert [row["CODE"] for row in system.store.alerts()] == (
            [] if include_day else ["DUPLICATE_DIFFERENT_CONTENT"]
        )
        return [*system.fates().values()]


def test_numbering_that_restarts_upstream() -> None:
    """D-23, D-24, R-044: with the day in the identity both count; without it, the second raises an alert."""
    assert numbering_restarts(include_day=True) == [("SUCCEEDED", None, None)] * 2
    assert numbering_restarts(include_day=False)[1] == ("SKIPPED", None, "duplicate-of:1")


def test_a_standby_whose_clock_is_a_minute_ahead_takes_nothing(tmp_path: Path) -> None:
    """D-34: the lease is in the time of the store; a clock that is off by a minute is nobody's expiry.

    What it writes when its turn has come bears its own time; order and identity do not go by that.
    """
    with closing_system(tmp_path / "store.db") as active, closing_system(tmp_path / "store.db") as standby:
        standby.clock.advance(timedelta(minutes=1))
        standby.inbox = active.inbox
        standby._wire()
        assert active.pipeline.start("active", 3.0).granted
        active.send([flop(1, "GTDT", gate("B1"))])
        active.pipeline.drain()
        assert not standby.pipeline.start("standby", 3.0).granted
        active.send([flop(1, "GTDT", gate("B2"))])
        active.pipeline.drain()
        active.store.release_lease()
        assert standby.pipeline.start("standby", 3.0).granted
        standby.send([flop(1, "GTDT", gate("B3"))])
        standby.pipeline.drain()
        events = standby.store.flight_events(1)
        assert [event["STATE_VERSION"] for event in events] == [1, 2, 3]
        assert [event["EVENT_ID"] for event in events] == [1, 2, 3]


NIGHTS = [
    # Clocks go forward at 02:00 and back at 03:00; the day changes at 03:00.
    ("28MAR270130", date(2027, 3, 27)),
    ("28MAR270230", date(2027, 3, 28)),
    ("28MAR270300", date(2027, 3, 28)),
    ("31OCT270159", date(2027, 10, 30)),
    ("31OCT270230", date(2027, 10, 30)),
    ("31OCT270300", date(2027, 10, 31)),
]


@pytest.mark.parametrize(("sodt", "day"), NIGHTS)
def test_a_flight_after_midnight_on_the_nights_when_clocks_change(sodt: str, day: date) -> None:
    """D-09, D-10: it belongs to the day before until the cut-over, and a second schedule leaves it there.

    A time in the gap moves forward, a repeated hour is the first one; no night moves a flight to another day.
    """
    config = PipelineConfig(policy=Policy(day_cutover=time(3)))
    with closing_system(None, config=config, zone=ZoneInfo("Europe/Berlin")) as system:
        system.send([schedule("DNLD", [fltr(1, sodt)]), schedule("DNLD", [fltr(1, sodt, ACFT="320")])])
        system.drain()
        assert [state for state, _, _ in system.fates().values()] == ["SUCCEEDED"] * 2
        assert system.document(1)["OPERATION_DAY"] == f"{day}"
        assert [roster.day for roster in system.store.rosters() if roster.flids] == [day]
