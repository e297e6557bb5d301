"""What is true after every step, whatever came before: each invariant with the rules that it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgx_core.model.flight import FlightState
from tests.proof import invariants_of_services as of
from tests.proof.oracle.types import Flight
from tests.proof.plant.airport import Plant
from tests.proof.plant.look import Look

Invariant = Callable[[Plant, Look, Look], None]
"""The plant, the look before the step and the one after it."""

_FINAL = ("SUCCEEDED", "SKIPPED", "DEAD")


def no_message_is_lost(plant: Plant, before: Look, now: Look) -> None:
    """R-001, R-022, R-031, INV-1: what was taken in stays, and only that is marked."""
    assert before.messages.keys() <= now.messages.keys()
    known = {msg_id for msg_id, message in plant.oracle.messages.items() if message.known}
    assert now.messages.keys() == known
    for msg_id, row in now.mailbox.items():
        ours = row.processed is not None and not plant.oracle.messages[msg_id].mark.by_others
        assert msg_id in known or not ours, "only who was taken in is marked"


def messages_end_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-106 to R-111, R-118, R-124, R-126, D-25: state, code, reason and attempts of each message."""
    for msg_id, row in now.messages.items():
        told = plant.oracle.messages[msg_id]
        found = (row["STATE"], row["ERROR_CODE"], row["REASON"], row["ATTEMPTS"], bool(row["TRYING"]))
        assert found == (told.state, told.code, told.reason, told.attempts, told.trying), f"message {msg_id}"
        assert (row["FINISHED_AT"] is not None) == told.is_final


def none_is_applied_twice(plant: Plant, before: Look, now: Look) -> None:
    """R-160, R-161, R-219, D-02, D-15: one number, and one step and event for each flight it touches."""
    numbers = [row["APPLY_NO"] for row in now.messages.values() if row["APPLY_NO"] is not None]
    assert len(numbers) == len(set(numbers))
    for msg_id, row in now.messages.items():
        applied = plant.oracle.messages[msg_id].applied is not None
        assert (row["APPLY_NO"] is not None) == applied, f"message {msg_id}"
        held = before.messages.get(msg_id)
        assert held is None or held["APPLY_NO"] in (None, row["APPLY_NO"]), "a number stays"
    steps = Counter((row["FLID"], row["STATE_VERSION"]) for row in now.rows_of("KAFKA:msg"))
    assert max(steps.values(), default=1) == 1, "one notice for each version"


def first_in_first_out(plant: Plant, before: Look, now: Look) -> None:
    """R-002, R-070, R-073, R-078, R-079, R-110: only the smallest open message is worked on.

    What is begun and not ended is the head; who ends has no open one before it, unless it came or was let in
    again later. (The oracle refuses each write that is not about the head.)
    """
    open_ = sorted(msg_id for msg_id, row in now.messages.items() if row["STATE"] not in _FINAL)
    for msg_id, row in now.messages.items():
        held = before.messages.get(msg_id)
        if row["STATE"] in _FINAL and held is not None and held["STATE"] not in _FINAL:
            overtaken = [i for i in open_ if i < msg_id and i in before.messages]
            assert not [i for i in overtaken if before.messages[i]["STATE"] not in _FINAL], f"{msg_id}"


def no_half_package(plant: Plant, before: Look, now: Look) -> None:
    """R-067, R-162, R-163, R-179, R-285, INV-3, INV-4, D-03: what is dead or passed over left no trace."""
    without = {i for i, message in plant.oracle.messages.items() if message.applied is None}
    assert not [f.flid for f in now.flights.values() if f.last_msg_id in without]
    assert not [row["EVENT_ID"] for row in now.events if row["MSG_ID"] in without]
    stepped = {(row["FLID"], row["STATE_VERSION"]) for row in now.rows_of("KAFKA:msg")}
    assert {(f.flid, f.version) for f in now.flights.values()} <= stepped, "no change without its event"


def flights_are_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-008, R-169, R-192, R-193, R-201, R-208, R-259, R-307, D-14, D-17, D-18, D-21: all of each flight."""
    airport = plant.oracle.airport
    assert {flid: _plain(flight) for flid, flight in now.flights.items()} == airport.flights
    assert now.floors == airport.floors
    for flid, flight in now.flights.items():
        assert list(flight.fields) == list(airport.flights[flid].fields), "in the order of the tables"


def _plain(flight: FlightState) -> Flight:
    return Flight(
        flid=flight.flid,
        live=flight.is_live,
        version=flight.version,
        day=flight.operation_day,
        fields=dict(flight.fields),
        last_msg=flight.last_msg_id,
        updated_at=flight.updated_at,
        mafl=tuple((child.flid, child.flno) for child in flight.mafl),
    )


def versions_only_rise(plant: Plant, before: Look, now: Look) -> None:
    """R-170, R-302, D-15, D-37: also over deletion, archiving and return."""
    for flid in before.flights.keys() | before.floors.keys():
        assert now.version_of(flid) >= before.version_of(flid), f"flight {flid}"
    for flid, floor in before.floors.items():
        assert now.floors[flid] >= floor


def operation_day_never_changes(plant: Plant, before: Look, now: Look) -> None:
    """R-189 to R-191, R-213, R-283, R-286, D-10: once bound, for as long as the flight is there."""
    for flid, flight in now.flights.items():
        held = before.flights.get(flid)
        if held is not None and held.operation_day is not None:
            assert flight.operation_day == held.operation_day, f"flight {flid}"


def absence_deletes_only_inside_the_coverage(plant: Plant, before: Look, now: Look) -> None:
    """R-166, R-182, R-185, R-294, R-327, INV-7, D-11: tombstones by absence lie in what was covered."""
    for (flid, version), payload in now.notices.items():
        if payload.get("REASON") != "SNAPSHOT_ABSENT":
            continue
        fate = plant.oracle.messages[payload["MSG_ID"]].applied
        assert fate is not None
        assert fate.deed is not None
        day = payload.get("OPERATION_DAY")
        of_day = day in {covered.isoformat() for covered in fate.deed.covered_days}
        planned = plant.oracle.outbox.msg[flid, version].step.flight.sodt
        first_last = fate.deed.covered_time
        of_time = first_last is not None and planned is not None and first_last[0] <= planned <= first_last[1]
        assert of_day or of_time, f"flight {flid} version {version}"


def rosters_are_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-214, R-297, R-319 to R-322, D-11: live flights of that day, each on one roster; generations."""
    airport = plant.oracle.airport
    found = {day: set(roster.flids) for day, roster in now.rosters.items() if roster.flids}
    assert found == {day: flids for day, flids in airport.rosters.items() if flids}
    generations = {day: roster.version for day, roster in now.rosters.items() if roster.version}
    assert generations == airport.generations
    everybody = [flid for flids in found.values() for flid in flids]
    assert len(everybody) == len(set(everybody)), "rosters are disjoint"
    for day, flids in found.items():
        assert all(now.flights[flid].is_live and now.flights[flid].operation_day == day for flid in flids)


def identity_is_never_rebound(plant: Plant, before: Look, now: Look) -> None:
    """R-037 to R-043, R-046, D-23, D-24: bound once; only a person lets a duplicate in under another one."""
    for msg_id, row in now.messages.items():
        assert row["IDENTITY_KEY"] == plant.oracle.messages[msg_id].identity, f"message {msg_id}"
        held = before.messages.get(msg_id)
        if held is not None and held["IDENTITY_KEY"] is not None:
            assert row["IDENTITY_KEY"] == held["IDENTITY_KEY"]


def reference_data_is_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-007, R-411, R-421, R-425, D-40: the whole trees by key."""
    assert now.references == plant.oracle.references


INVARIANTS: tuple[Invariant, ...] = (
    no_message_is_lost,
    messages_end_as_foretold,
    none_is_applied_twice,
    first_in_first_out,
    no_half_package,
    flights_are_as_foretold,
    versions_only_rise,
    operation_day_never_changes,
    absence_deletes_only_inside_the_coverage,
    rosters_are_as_foretold,
    of.events_are_in_order,
    of.events_are_as_foretold,
    of.the_bus_has_them_in_order,
    of.the_cache_is_never_newer_than_the_store,
    of.the_cache_is_never_older_than_a_terminal_message,
    of.write_back_comes_after_the_end,
    of.write_back_is_as_foretold,
    identity_is_never_rebound,
    of.requests_are_as_foretold,
    reference_data_is_as_foretold,
    of.alerts_are_as_foretold,
)


def check(plant: Plant, before: Look) -> Look:
    """All of them; the look that they were checked on."""
    now = Look.at(plant)
    for invariant in INVARIANTS:
        invariant(plant, before, now)
        plant.tally.invariants[invariant.__name__] += 1
    return now
