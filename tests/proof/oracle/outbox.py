"""The oracle's outbox: notices in the order of commits, the newest state of each flight (D-27 to D-29)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from attrs import define, field

from tests.proof.oracle.types import Step

ATTEMPTS = 2
PAUSE = timedelta(seconds=1)


@define
class Event:
    """One outbox row. `commit` counts the commits that wrote events: `EVENT_ID`s follow it."""

    flid: int
    version: int
    commit: int
    msg_id: int
    step: Step
    status: str = "PENDING"
    attempts: int = 0
    due: datetime | None = None

    def settle(self, code: str | None, now: datetime) -> bool:
        """D-28: the bus has it, or refuses it until its attempts are used up; whether it is dead."""
        if code is None:
            self.status = "SENT"
            return False
        self.attempts += 1
        if self.attempts >= ATTEMPTS or code == "too-large":
            self.status, self.due = "DEAD", None
            return True
        self.due = now + PAUSE
        return False

    def requeue(self) -> None:
        """R-373: a person lets it try again."""
        self.status, self.attempts, self.due = "PENDING", 0, None

    def is_due(self, now: datetime) -> bool:
        """Whether it waits for nothing but the relay."""
        return self.status == "PENDING" and (self.due is None or self.due <= now)


@define
class Outbox:
    """`msg` events by flight and version; of `schd` the one row of each flight."""

    msg: dict[tuple[int, int], Event] = field(factory=dict)
    schd: dict[int, Event] = field(factory=dict)
    commits: int = 0
    let_go_again: set[tuple[int, int]] = field(factory=set)

    def write(self, msg_id: int | None, steps: Iterable[Step], now: datetime) -> None:
        """In ①: a notice of each step, and the new state of each flight that lives (R-170, D-15)."""
        self.commits += 1
        for step in steps:
            flight = step.flight
            by = flight.last_msg if msg_id is None else msg_id
            assert (flight.flid, flight.version) not in self.msg, "one event for each step (D-15)"
            self.msg[flight.flid, flight.version] = Event(flight.flid, flight.version, self.commits, by, step)
            self.schd.pop(flight.flid, None)
            if flight.live:
                self.schd[flight.flid] = Event(flight.flid, flight.version, self.commits, by, step)

    def find(self, target: str, flid: int, version: int) -> Event | None:
        """The row, unless a newer version has taken it over (R-374)."""
        if target == "KAFKA:msg":
            return self.msg.get((flid, version))
        held = self.schd.get(flid)
        return held if held is not None and held.version == version else None

    def schd_by_version(self) -> dict[tuple[int, int], Event]:
        """The states by flight and version."""
        return {(event.flid, event.version): event for event in self.schd.values()}

    def due(self, target: str, now: datetime) -> set[tuple[int, int]]:
        """D-28: of a flight's notices only the oldest that is not sent; every state that is not sent."""
        rows = self.msg.values() if target == "KAFKA:msg" else self.schd.values()
        waiting = [e for e in rows if e.status == "PENDING"]
        if target == "KAFKA:msg":
            oldest: dict[int, Event] = {}
            for event in waiting:
                held = oldest.get(event.flid)
                if held is None or event.version < held.version:
                    oldest[event.flid] = event
            waiting = list(oldest.values())
        return {(e.flid, e.version) for e in waiting if e.is_due(now)}
