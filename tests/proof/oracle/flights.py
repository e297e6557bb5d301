"""What a message does to flights and rosters, told once more in plain Python (D-06 to D-21, D-37)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from attrs import define, evolve, field

from msgx_core.testing.wire import PlainRecord, WireMessage
from tests.proof.oracle import values as worth
from tests.proof.oracle.types import Choices, Deed, Flight, Step, Wrong


@define
class Airport:
    """Flights, rosters with their generations, and the versions of flights that have left (D-37)."""

    choices: Choices
    flights: dict[int, Flight] = field(factory=dict)
    rosters: dict[date, set[int]] = field(factory=dict)
    generations: dict[date, int] = field(factory=dict)
    floors: dict[int, int] = field(factory=dict)

    def day_of(self, at: datetime | None) -> date | None:
        """The operation day of an instant."""
        return worth.day_of(at, self.choices.cutover)

    # A schedule

    def schedule(self, sent: WireMessage, days: Iterable[date] | None, msg_id: int, now: datetime) -> Deed:
        """D-11, D-12, D-14: each record replaces its flight; absence deletes inside the coverage alone.

        `days`: those of the request that it answers; a download covers what `msgx.schd.dnld-coverage` says.
        """
        records = {worth.flid_of(record): record for record in sent.flights}
        planned = self._planned(records)
        deed = self.covered(sent, days)
        own = {flid: self._own_day(flid, day) for flid, day in planned.items()}
        members = self._members(deed, own)
        absent = self._absent(deed, members, records)
        after = {
            flid: self._flight(flid, own[flid], worth.complete(record), msg_id, now)
            for flid, record in records.items()
        }
        deed.alerts += ["BAD_VALUE"] * any(worth.bad_tags(record) for record in records.values())
        deed.alerts += ["EMPTY"] * (not records or any(day not in members for day in deed.covered_days))
        deed.rosters = members
        if not deed.covered_days:
            deed.joins = {flid: day for flid, day in own.items() if day is not None}
        return self._spread(deed, after, absent, "SNAPSHOT_ABSENT", msg_id, now)

    def _planned(self, records: Mapping[int, PlainRecord]) -> dict[int, date | None]:
        return {flid: self.day_of(worth.instant(r.get("SODT"))) for flid, r in records.items()}

    def covered(self, sent: WireMessage, days: Iterable[date] | None) -> Deed:
        """What the package covers; where that is days, its records lie in them (D-11, D-12)."""
        records = {worth.flid_of(record): record for record in sent.flights}
        planned = self._planned(records)
        deed = Deed()
        if days is not None:
            deed.covered_days = frozenset(days)
        elif sent.styp == "DNLD" and records:
            self._download(deed, records, planned)
        if deed.covered_days:
            self._check_times(records)
            outside = [flid for flid, day in planned.items() if day not in deed.covered_days]
            if outside:
                raise Wrong(f"out-of-scope:{outside[0]}")
        return deed

    def _download(
        self, deed: Deed, records: Mapping[int, PlainRecord], planned: Mapping[int, date | None]
    ) -> None:
        days = frozenset(day for day in planned.values() if day is not None)
        if self.choices.dnld == "single-day" and len(days) < 2:
            self._check_times(records)
            deed.covered_days = days
        elif self.choices.dnld == "observed":
            self._check_times(records)
            times = sorted(at for r in records.values() if (at := worth.instant(r.get("SODT"))) is not None)
            deed.covered_time = (times[0], times[-1])

    def _check_times(self, records: Mapping[int, PlainRecord]) -> None:
        """D-12: where absence deletes, every record has its time."""
        for flid, record in records.items():
            if not record.get("SODT"):
                raise Wrong(f"sodt-missing:{flid}")
            if worth.instant(record["SODT"]) is None:
                raise Wrong(f"bad-time:SODT:{flid}")

    def _own_day(self, flid: int, day: date | None) -> date | None:
        """D-10: a flight is bound to its day once, deleted or not."""
        held = self.flights.get(flid)
        if held is None or held.day is None:
            return day
        if day not in (None, held.day):
            raise Wrong("SAME_FLID_ACROSS_OPERATION_DAYS")
        return held.day

    def _members(self, deed: Deed, own: Mapping[int, date | None]) -> dict[date, set[int]]:
        """D-11: a covered day without a record keeps its roster, unless the package has none at all."""
        found = {day: {flid for flid, d in own.items() if d == day} for day in deed.covered_days}
        return {day: flids for day, flids in found.items() if flids or not own}

    def _absent(
        self, deed: Deed, members: Mapping[date, set[int]], records: Mapping[int, PlainRecord]
    ) -> set[int]:
        """D-11, INV-7: of a covered day O − N; of an interval the live flights planned in it."""
        live = {flid for flid, flight in self.flights.items() if flight.live}
        if deed.covered_time is not None:
            first, last = deed.covered_time
            inside = {f for f in live if (at := self.flights[f].sodt) is not None and first <= at <= last}
            return inside - records.keys()
        gone: set[int] = set()
        for day in sorted(members):
            for flid in sorted((self.rosters.get(day, set()) - records.keys()) & live):
                if self.flights[flid].day != day:
                    raise Wrong(f"roster-day-mismatch:{flid}")
                gone.add(flid)
        return gone

    # One flight

    def adft(self, sent: WireMessage, msg_id: int, now: datetime) -> Deed:
        """D-07, D-17: sets only; a deleted flight begins from nothing."""
        (record,) = sent.flights
        flid = worth.flid_of(record)
        held = self.flights.get(flid)
        day = self._own_day(flid, self.day_of(worth.instant(record.get("SODT"))))
        fields = worth.added(held.fields if held is not None and held.live else {}, record)
        deed = Deed(alerts=["BAD_VALUE"] * bool(worth.bad_tags(record)))
        return self._spread(
            deed, {flid: self._flight(flid, day, fields, msg_id, now)}, set(), "", msg_id, now
        )

    def flop(self, sent: WireMessage, msg_id: int, now: datetime) -> Deed | str:
        """D-07, D-08, D-18: a change of a live or an unknown flight; else why it is passed over."""
        (record,) = sent.flights
        flid = worth.flid_of(record)
        held = self.flights.get(flid)
        if held is not None and not held.live:
            return "flight-deleted"
        if held is None and flid in self.floors:
            return "flight-archived"
        if held is None and not self.choices.create_missing:
            return "missing-flight"
        fields = worth.changed({} if held is None else held.fields, sent.styp, record)
        flight = self._flight(flid, None if held is None else held.day, fields, msg_id, now)
        return self._spread(Deed(), {flid: flight}, set(), "", msg_id, now)

    def fdel(self, sent: WireMessage, msg_id: int, now: datetime) -> Deed:
        """D-06: a soft delete; of what is gone it is a success without effect."""
        flid = worth.flid_of(sent.flights[0])
        held = self.flights.get(flid)
        if held is None or not held.live:
            return Deed(reason="already-gone")
        return self._spread(Deed(), {}, {flid}, "FDEL", msg_id, now)

    # Code share, versions, events

    def _flight(
        self, flid: int, day: date | None, fields: Mapping[str, Any], msg_id: int, now: datetime
    ) -> Flight:
        return Flight(flid, True, self._next_version(flid), day, fields, msg_id, now)

    def _next_version(self, flid: int) -> int:
        held = self.flights.get(flid)
        return 1 + (self.floors.get(flid, 0) if held is None else held.version)

    def _spread(
        self, deed: Deed, after: dict[int, Flight], deleted: set[int], why: str, msg_id: int, now: datetime
    ) -> Deed:
        """D-21: shared flights follow their main flight into deletion; it steps when its list changes.

        A flight takes one step however many ways it is touched.
        """
        reasons = dict.fromkeys(deleted, why)
        for main in sorted(flid for flid in deleted if self.flights[flid].main is None):
            for flid, flight in self.flights.items():
                if flight.live and flight.main == main and flid not in {*after, *deleted}:
                    reasons[flid] = "CASCADE"
        for flid in reasons:
            held = self.flights[flid]
            after[flid] = Flight(flid, False, held.version + 1, held.day, held.fields, msg_id, now)
        world = {**self.flights, **after}
        for flid, held in self.flights.items():
            if flid not in after and held.live and held.mafl != self.shared_by(flid, world):
                after[flid] = evolve(held, version=held.version + 1, last_msg=msg_id, updated_at=now)
        for flid, flight in after.items():
            self._step(deed, evolve(flight, mafl=self.shared_by(flid, world)), reasons.get(flid), msg_id)
        return deed

    @staticmethod
    def shared_by(flid: int, world: Mapping[int, Flight]) -> tuple[tuple[int, str | None], ...]:
        """D-21: the live flights whose `MAID` is this one, which must be live and have none itself."""
        flight = world[flid]
        if not flight.live or flight.main is not None:
            return ()
        children = (f for f in world.values() if f.live and f.main == flid)
        return tuple(sorted((f.flid, f.fields.get("FLNO")) for f in children))

    def _step(self, deed: Deed, flight: Flight, why_deleted: str | None, msg_id: int) -> None:
        held = self.flights.get(flight.flid)
        lives_on = held is not None and held.live and flight.live
        before = held if lives_on else None
        changed = worth.differing({} if before is None else before.fields, flight.fields)
        changed += ["MAFL"] * (flight.mafl != (() if before is None else before.mafl))
        if (
            before is not None
            and self.choices.suppress_unchanged
            and not changed
            and before.day == flight.day
        ):
            deed.touched.append(evolve(before, last_msg=msg_id))
            return
        generation = self._generation(flight)
        if generation is not None and flight.day in deed.rosters:
            generation += 1
        deed.steps.append(Step(flight, tuple(changed) if flight.live else (), why_deleted, generation))

    # What is done

    def do(self, deed: Deed) -> None:
        """All of it, at once."""
        for flight in (*(step.flight for step in deed.steps), *deed.touched):
            self.flights[flight.flid] = flight
        for day, flids in deed.rosters.items():
            self.rosters[day] = set(flids)
            self.generations[day] = self.generations.get(day, 0) + 1
        for flid, day in deed.joins.items():
            self.rosters.setdefault(day, set()).add(flid)
        self._leave({step.flight.flid for step in deed.steps if not step.flight.live})

    def archive(self, flids: set[int], now: datetime) -> list[Step]:
        """D-33, D-37: they leave with version + 1; main flights that lose one step; nothing cascades."""
        steps = []
        for flid in sorted(flids):
            held = self.flights.pop(flid)
            self.floors[flid] = held.version + 1
            if held.live:
                left = evolve(held, live=False, version=held.version + 1, updated_at=now)
                steps.append(Step(left, (), "ARCHIVED", self._generation(held)))
        self._leave(flids)
        for flid, held in sorted(self.flights.items()):
            listed = self.shared_by(flid, self.flights)
            if held.live and held.mafl != listed:
                after = evolve(held, version=held.version + 1, mafl=listed, updated_at=now)
                self.flights[flid] = after
                steps.append(Step(after, ("MAFL",), None, self._generation(held)))
        return steps

    def _generation(self, flight: Flight) -> int | None:
        return None if flight.day is None else self.generations.get(flight.day, 0)

    def _leave(self, flids: set[int]) -> None:
        for roster in self.rosters.values():
            roster.difference_update(flids)

    def ended(self, flight: Flight, now: datetime, window: timedelta) -> bool:
        """FST §8.1, R-383: one of the conditions holds since its window after the day of its moment."""
        moments = [] if flight.live else [flight.updated_at]
        if flight.day is not None:
            planned = flight.sodt or worth.day_start(flight.day, self.choices.cutover)
            moments.append(planned)
            if "CNCL" in flight.fields:
                moments.append(worth.instant(flight.fields["CNCL"]) or planned)
            moments += [at for tag in ("NAAT", "NEAT") if (at := worth.instant(flight.fields.get(tag)))]
        over = [worth.day_end(at, self.choices.cutover) for at in moments]
        return any(end + window <= now for end in over)
