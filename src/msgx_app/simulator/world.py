"""The running simulation: the flights as they are now, the sequence number, and how messages are made."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable

from attrs import Factory, define, field, frozen

from msgx_app.simulator.airport import Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.flight import Change, Flight
from msgx_app.simulator.markup import Meta, Style, Tag, document
from msgx_app.simulator.plan import SimulationPlan

_REMEMBERED = 24
PLAIN = Style()


@frozen
class Outgoing:
    """A message about to leave: the end of its name, its bytes and its fault, if any."""

    label: str
    raw: bytes
    fault: str = ""


@frozen
class Sent:
    """A `FLOP` that has left, as needed to send it again."""

    label: str
    meta: Meta
    body: Tag
    raw: bytes


@define
class World:
    """The AODB of the simulated airport. One pass over its events changes it; it is used once."""

    plan: SimulationPlan
    site: Site
    clock: Clock
    rng: random.Random
    flights: dict[int, Flight] = Factory(dict)
    deleted: dict[int, Flight] = Factory(dict)
    recent: deque[Sent] = field(factory=lambda: deque(maxlen=_REMEMBERED))
    _seqn: int = field(init=False)
    _last_s: float = field(init=False, default=0.0)

    def __attrs_post_init__(self) -> None:
        self._seqn = self.plan.first_seqn

    def meta(self, kind: str, styp: str, at_s: float) -> Meta:
        """A new `META`: takes the next sequence number."""
        self._seqn += 1
        self._last_s = at_s
        return Meta(self.plan.sender, self._seqn - 1, self.clock.dttm(at_s), kind, styp)

    def send(self, kind: str, styp: str, body: Iterable[Tag], at_s: float, fault: str = "") -> Outgoing:
        """A message of any kind, in one of the looks of real upstreams."""
        raw = document(self.meta(kind, styp, at_s), body, self.style())
        return Outgoing(f"{kind}-{styp}".lower(), raw, fault)

    def records(
        self, kind: str, styp: str, records: tuple[Tag, ...], at_s: float, fault: str = ""
    ) -> Outgoing:
        """A reference or `RSTA` message: `RECS` beside its records."""
        return self.send(kind, styp, (Tag("RECS", str(len(records))), *records), at_s, fault)

    def schedule(self, styp: str, flights: Iterable[Flight], at_s: float, fault: str = "") -> Outgoing:
        """A `SCHD` package with the flights as they are now."""
        records = tuple(f.record() for f in flights)
        body = Tag("SCHD", children=(Tag("RECS", str(len(records))), *records))
        return self.send("SCHD", styp, (body,), at_s, fault)

    def flop(
        self, flid: int, styp: str, change: Change, at_s: float, late_s: float = 0, always: bool = True
    ) -> Outgoing | None:
        """Changes a flight and says so; nothing when the flight is gone.

        `late_s` makes `DTTM` older, and older than that of the message before in any case; without `always`
        a change that changes nothing is not sent.
        """
        flight = self.flights.get(flid)
        if flight is None or (not always and change(flight) == flight):
            return None
        self.flights[flid] = flight = change(flight)
        text = self.rng.choices((f"{flid}", f"0{flid}", f" {flid} "), (96, 2, 2))[0]
        body = flight.body(styp, text)
        told_s = min(at_s - late_s, self._last_s - 60) if late_s else at_s
        meta = self.meta("FLOP", styp, told_s)
        raw = document(meta, (body,), self.style())
        label = f"flop-{styp.lower()}" + ("-late" if late_s else "")
        self.recent.append(Sent(label, meta, body, raw))
        return Outgoing(label, raw, "late" if late_s else "")

    def style(self) -> Style:
        """Mostly the plain look, at times another one."""
        rng = self.rng
        return Style(
            indent=rng.random() < 0.8,
            spaced=rng.random() < 0.1,
            empty=rng.choices(("pair", "short", "blank"), (60, 30, 10))[0],
            meta_shift=rng.choices((0, 1, 3), (94, 3, 3))[0],
        )


@frozen
class Event:
    """Something that happens at a second of the stretch; it may turn out to send nothing."""

    at_s: float
    run: Callable[[World, float], Outgoing | None]


def flop_event(
    at_s: float, flid: int, styp: str, change: Change, late_s: float = 0, always: bool = True
) -> Event:
    """The event that changes a flight and sends the `FLOP`, see `World.flop`."""
    return Event(at_s, lambda world, now_s: world.flop(flid, styp, change, now_s, late_s, always))
