"""Each invariant says no when what it speaks of is broken: a model that lets all pass proves nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import pytest
from attrs import evolve, frozen

from msgx_core.model.flight import FlightState
from msgx_core.model.message import MsgKind, Node
from msgx_core.ports.cache import CachePut
from msgx_core.testing.wire import WireMessage, meta
from tests.proof.invariants import INVARIANTS, Invariant
from tests.proof.letters import adft, flop, miscounted, plain, schedule
from tests.proof.plant.airport import Plant
from tests.proof.plant.look import Look
from tests.proof.stores import SqliteProof
from tests.proof.teller import TODAY, TOMORROW, Teller, choices_of
from tests.proof.walk import DAY

K = TypeVar("K")
V = TypeVar("V")


@frozen
class Busy:
    """A day on which a little of everything happens, as it was before its last message and after it."""

    plant: Plant
    before: Look
    now: Look


@pytest.fixture(scope="module")
def busy() -> Iterator[Busy]:
    teller = Teller(SqliteProof(), choices_of([pytest.mark.under(dnld="single-day").mark]))
    gate = Node("GLST", children=(Node("GCOD", "A1"),))
    teller.sends(
        schedule("DNLD", plain(1, TODAY), plain(2, TODAY)),
        flop(1, "STND", "1"),
        miscounted("DNLD", plain(3, TODAY)),
        WireMessage(MsgKind.REFERENCE, meta("GLST", "ADD"), "1", records=(gate,)),
        schedule("DNLD", plain(1, TODAY, STND="2")),
        schedule("DNLD", plain(3, TODAY), plain(1, TOMORROW)),
    )
    teller.people_ask_for_a_schedule()
    teller.relay_notices()
    teller.relay_notices()
    before = teller.machine.seen
    teller.sends(adft(plain(1, None, STND="3")), adft(plain(1, None, STND="4")))
    yield Busy(teller.machine.plant, before, teller.machine.seen)
    teller.teardown()


def bites(invariant: Invariant, busy: Busy, **broken: Any) -> None:
    """It holds, and does not hold when that is broken."""
    invariant(busy.plant, busy.before, busy.now)
    with pytest.raises(AssertionError):
        invariant(busy.plant, busy.before, evolve(busy.now, **broken))


def of_name(name: str) -> Invariant:
    """The invariant of that name."""
    return next(each for each in INVARIANTS if each.__name__ == name)


def without(held: Mapping[K, V], key: K) -> dict[K, V]:
    """All but one."""
    assert key in held
    return {k: v for k, v in held.items() if k != key}


def with_column(rows: Mapping[int, dict[str, Any]], key: int, **columns: Any) -> dict[int, dict[str, Any]]:
    """One row with other columns."""
    return {**rows, key: {**rows[key], **columns}}


def with_open(rows: Mapping[int, dict[str, Any]], *ids: int) -> dict[int, dict[str, Any]]:
    """These messages as they were when they came."""
    return {i: {**row, "STATE": "PENDING"} if i in ids else row for i, row in rows.items()}


def with_flight(look: Look, flid: int, **changes: Any) -> dict[int, FlightState]:
    """One flight with other values."""
    return {**look.flights, flid: evolve(look.flights[flid], **changes)}


def test_no_message_is_lost(busy: Busy) -> None:
    """R-001, R-022, R-031, INV-1: what was taken in stays, and only that is marked."""
    bites(of_name("no_message_is_lost"), busy, messages=without(busy.now.messages, 2))


def test_messages_end_as_foretold(busy: Busy) -> None:
    """R-106 to R-111, R-118, R-124, R-126, D-25: state, code, reason and attempts of each message."""
    bites(
        of_name("messages_end_as_foretold"),
        busy,
        messages=with_column(busy.now.messages, 2, REASON="unsupported"),
    )


def test_none_is_applied_twice(busy: Busy) -> None:
    """R-160, R-161, R-219, D-02, D-15: one number, and one step and event for each flight it touches."""
    bites(of_name("none_is_applied_twice"), busy, messages=with_column(busy.now.messages, 2, APPLY_NO=1))


def test_first_in_first_out(busy: Busy) -> None:
    """R-002, R-070, R-073, R-078, R-079, R-110: only the smallest open message is worked on."""
    before = evolve(busy.before, messages=with_open(busy.now.messages, 7, 8))
    now = evolve(busy.now, messages=with_open(busy.now.messages, 7))
    with pytest.raises(AssertionError):
        of_name("first_in_first_out")(busy.plant, before, now)


def test_no_half_package(busy: Busy) -> None:
    """R-067, R-162, R-163, R-179, R-285, INV-3, INV-4, D-03: what is dead or passed over left no trace."""
    bites(of_name("no_half_package"), busy, flights=with_flight(busy.now, 1, last_msg_id=3))


def test_flights_are_as_foretold(busy: Busy) -> None:
    """R-008, R-169, R-192, R-193, R-201, R-208, R-259, R-307, D-14, D-17, D-18, D-21: all of each flight."""
    bites(of_name("flights_are_as_foretold"), busy, flights=with_flight(busy.now, 1, fields={"STND": "99"}))


def test_versions_only_rise(busy: Busy) -> None:
    """R-170, R-302, D-15, D-37: also over deletion, archiving and return."""
    bites(of_name("versions_only_rise"), busy, flights=with_flight(busy.now, 1, version=1))


def test_operation_day_never_changes(busy: Busy) -> None:
    """R-189 to R-191, R-213, R-283, R-286, D-10: once bound, for as long as the flight is there."""
    bites(of_name("operation_day_never_changes"), busy, flights=with_flight(busy.now, 1, operation_day=None))


def test_absence_deletes_only_inside_the_coverage(busy: Busy) -> None:
    """R-166, R-182, R-185, R-294, R-327, INV-7, D-11: tombstones by absence lie in what was covered."""
    (gone,) = [key for key, notice in busy.now.notices.items() if notice.get("REASON") == "SNAPSHOT_ABSENT"]
    elsewhere = {**busy.now.notices[gone], "OPERATION_DAY": "2027-03-15"}
    bites(
        of_name("absence_deletes_only_inside_the_coverage"),
        busy,
        notices={**busy.now.notices, gone: elsewhere},
    )


def test_rosters_are_as_foretold(busy: Busy) -> None:
    """R-214, R-297, R-319 to R-322, D-11: live flights of that day, each on one roster; generations."""
    bites(of_name("rosters_are_as_foretold"), busy, rosters=without(busy.now.rosters, DAY))


def test_events_are_in_order(busy: Busy) -> None:
    """R-005, R-350, R-353, D-27: ids of each topic are consecutive, in the order of the commits."""
    bites(of_name("events_are_in_order"), busy, events=busy.now.events[1:])


def test_events_are_as_foretold(busy: Busy) -> None:
    """R-004, R-112, R-113, R-114, R-170, R-298, R-357, D-28, D-29: what is told of a step, how far it got."""
    bites(
        of_name("events_are_as_foretold"), busy, events=[{**row, "STATUS": "SENT"} for row in busy.now.events]
    )


def test_the_bus_has_them_in_order(busy: Busy) -> None:
    """R-350, R-355, D-28: of a flight by `EVENT_ID`; repeats and what people let go again apart."""
    invariant = of_name("the_bus_has_them_in_order")
    invariant(busy.plant, busy.before, busy.now)
    told = busy.plant.topics.notices
    busy.plant.topics.notices = told[::-1]
    with pytest.raises(AssertionError):
        invariant(busy.plant, busy.before, busy.now)
    busy.plant.topics.notices = told


def test_the_cache_is_never_newer_than_the_store(busy: Busy) -> None:
    """R-084, R-375, INV-5, INV-10, D-31: and it shows what the store held at that version."""
    bites(of_name("the_cache_is_never_newer_than_the_store"), busy, cache={1: CachePut(1, 99, DAY, "{}")})


def test_the_cache_is_never_older_than_a_terminal_message(busy: Busy) -> None:
    """R-085, R-086, R-377, R-379, INV-10: what `SUCCEEDED` has done is there, until the cache is lost."""
    bites(
        of_name("the_cache_is_never_older_than_a_terminal_message"),
        busy,
        cache={1: CachePut(1, 1, DAY, "{}")},
    )


def test_write_back_comes_after_the_end(busy: Busy) -> None:
    """R-036, R-091, R-131, R-135, R-155, R-156, D-43: a mark is the time of an end that came before."""
    bites(
        of_name("write_back_comes_after_the_end"),
        busy,
        mailbox={**busy.now.mailbox, 5: evolve(busy.now.mailbox[5], processed="2027-03-14 08:00:00")},
    )


def test_write_back_is_as_foretold(busy: Busy) -> None:
    """R-132 to R-134, R-143 to R-151, D-38, H-25, H-28: owed, tried, written, given up."""
    bites(
        of_name("write_back_is_as_foretold"),
        busy,
        messages=with_column(busy.now.messages, 2, BACKFILL_ATTEMPTS=7),
    )


def test_identity_is_never_rebound(busy: Busy) -> None:
    """R-037 to R-043, R-046, D-23, D-24: bound once; only a person lets a duplicate in under another one."""
    bites(
        of_name("identity_is_never_rebound"),
        busy,
        messages=with_column(busy.now.messages, 2, IDENTITY_KEY="AODB|FLOP|STND|99"),
    )


def test_requests_are_as_foretold(busy: Busy) -> None:
    """R-006, R-332 to R-339, R-412, D-32: one open one in each slot, sent once, answered by one message."""
    bites(of_name("requests_are_as_foretold"), busy, requests={})


def test_reference_data_is_as_foretold(busy: Busy) -> None:
    """R-007, R-411, R-421, R-425, D-40: the whole trees by key."""
    bites(of_name("reference_data_is_as_foretold"), busy, references={})


def test_alerts_are_as_foretold(busy: Busy) -> None:
    """R-129, R-145, R-146, R-191, D-41: with what they report, once, and none without a reason."""
    bites(of_name("alerts_are_as_foretold"), busy, alerts=Counter())


RULES = re.compile(r"(?:R|INV)-\d+")


def test_every_invariant_is_shown_here() -> None:
    """house rules: each has its test, and both name the same rules."""
    for invariant in INVARIANTS:
        shown = globals()[f"test_{invariant.__name__}"]
        assert RULES.findall(shown.__doc__) == RULES.findall(invariant.__doc__ or ""), invariant.__name__
