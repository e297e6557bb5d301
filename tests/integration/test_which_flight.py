"""Which flight a message means, and which message wins (FST §3.1, §3.5, §5.6, §7.4)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from embedded import System, closing_system
from wire import adft, fdel, flop, fltr, gate, schedule

DAY, NEXT_DAY = date(2027, 3, 14), date(2027, 3, 15)


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        yield made


def sent(system: System, *raws: bytes) -> System:
    """Sent and worked off."""
    system.send(raws)
    system.drain()
    return system


def whole(system: System, flid: int) -> tuple[dict[str, Any], list[Any]]:
    """A flight's full state and all its events."""
    return system.document(flid), [e["PAYLOAD"] for e in system.store.flight_events(flid)]


def test_a_flight_number_is_no_identity(system: System) -> None:
    """R-279, R-280, R-288: one number on one day and on two: as many flights as there are FLIDs."""
    same = "QX100"
    records = [
        fltr(1, "14MAR270805", FLNO=same),
        fltr(2, "14MAR270805", FLNO=same),
        fltr(3, "15MAR270805", FLNO=same),
    ]
    sent(system, schedule("DNLD", records), flop(2, "GTDT", gate("B2")))
    documents = [system.document(flid) for flid in (1, 2, 3)]
    assert [d["FLNO"] for d in documents] == [same] * 3
    assert [d["OPERATION_DAY"] for d in documents] == [f"{DAY}", f"{DAY}", f"{NEXT_DAY}"]
    assert [d["STATE_VERSION"] for d in documents] == [1, 2, 1]


def test_nothing_of_one_flight_reaches_another(system: System) -> None:
    """R-287: state, version, collections and events end at the FLID."""
    sent(system, schedule("DNLD", [fltr(1, GTDT=""), fltr(2)]), flop(2, "GTDT", gate("B2")))
    before = whole(system, 2)
    sent(system, flop(1, "GTDT", gate("B1")), flop(1, "CKDT", '<CKDT CKNO="0"/>'), fdel(1))
    assert whole(system, 2) == before


def test_a_new_number_is_a_new_flight(system: System) -> None:
    """R-206, R-289: FDEL and ADFT are an end and a beginning; nothing goes from the one to the other."""
    sent(system, schedule("DNLD", [fltr(1, FLNO="QX1", REMC="delayed")]), flop(1, "GTDT", gate("B1")))
    sent(system, fdel(1), adft(fltr(2, FLNO="QX1")))
    old, new = system.document(1), system.document(2)
    assert (old["STATE"], old["STATE_VERSION"]) == ("DELETED", 3)
    assert (new["STATE"], new["STATE_VERSION"], new["OPERATION_DAY"]) == ("ACTIVE", 1, f"{DAY}")
    assert not {"REMC", "GTDT"} & set(new)
    kinds = [[e["PAYLOAD"]["KIND"] for e in system.store.flight_events(flid)] for flid in (1, 2)]
    assert kinds == [["UPSERT", "UPSERT", "DELETE"], ["UPSERT"]]


def test_a_delayed_flight_stays_what_it_was_past_midnight(system: System) -> None:
    """R-199, R-286, R-380: it leaves after midnight; it keeps its FLID and its day, goes on being updated,
    and the next day's plan without it takes nothing from it."""
    sent(system, schedule("DNLD", [fltr(1, "14MAR272350")]))
    system.clock.advance(86_400)
    sent(system, schedule("DNLD", [fltr(2, "15MAR270805")]), flop(1, "GTDT", gate("B9")))
    late = system.document(1)
    assert (late["STATE"], late["OPERATION_DAY"]) == ("ACTIVE", f"{DAY}")
    assert [g["GATE"] for g in late["GTDT"]] == ["B9"]
    assert system.store.rosters(DAY)[0].flids == {1}
    assert system.store.rosters(NEXT_DAY)[0].flids == {2}


@pytest.mark.parametrize("dttm", ["20270314060000", "20270101000000"], ids=["newer", "older"])
def test_what_comes_later_wins_whatever_its_time_says(system: System, dttm: str) -> None:
    """R-195, R-196, R-468: messages are taken in the order of the mailbox; an older `DTTM` is flagged and
    holds nothing up."""
    first = schedule("DNLD", [fltr(1, STND="101")], dttm="20270314050000")
    sent(system, first, flop(1, "GTDT", gate("B1")))
    sent(system, schedule("DNLD", [fltr(1, STND="102")], dttm=dttm))
    assert (system.document(1)["STND"], "GTDT" in system.document(1)) == ("102", False)
    flags = system.store.snapshots()[0]["FLAGS"]
    assert ("OUT_OF_ORDER" in flags) == (dttm == "20270101000000")
    sent(system, flop(1, "GTDT", gate("B2")))
    assert [g["GATE"] for g in system.document(1)["GTDT"]] == ["B2"]
