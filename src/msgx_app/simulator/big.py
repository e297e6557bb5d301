"""One schedule as large as the upstream allows: 4,000 flights rich in collections, just under 10 MiB."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import date

from attrs import evolve

from msgx_app.simulator import elements, tables
from msgx_app.simulator.airport import build_site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.markup import Meta, Style, Tag, document, render
from msgx_app.simulator.plan import SimulationPlan
from msgx_app.simulator.timetable import Timetable
from msgx_core.model import sis

MAX_BYTES = 10 * 1024 * 1024
"""The limit of the upstream's message store (CIIMS)."""

_DEFAULT_TARGET = MAX_BYTES - 1024
_SLACK_BYTES = 1024
"""More than the largest single element takes."""

_COMPACT = Style(indent=False, empty="short")


def big_schedule(
    flights: int = 4000,
    target_bytes: int = _DEFAULT_TARGET,
    seed: int = 1,
    day: date = date(2027, 3, 14),
    airport: str = "KMG",
) -> bytes:
    """A `SCHD`/`DNLD` with so many flights of at most `target_bytes`, at most a kibibyte below it.

    The same arguments give the same bytes. Raises ValueError where the flights do not fit in, or where
    they cannot be made large enough without breaking the limits of the collections.
    """
    plan = SimulationPlan(seed=seed, day=day, flights=flights, airport=airport)
    rng, clock = random.Random(f"{seed}/big"), Clock.of(plan)
    timetable = Timetable(build_site(plan.airport, rng), clock, rng, plan.first_flid)
    meta = Meta(plan.sender, plan.first_seqn, clock.dttm(60), "SCHD", "DNLD")
    empty = document(meta, (Tag("SCHD", children=(Tag("RECS", str(flights)),)),), _COMPACT)
    room = target_bytes - len(empty)
    parts: list[str] = []
    used = 0
    for i, flight in enumerate(timetable.fill(flights), start=1):
        part, size = _filled(flight, room * i // flights - used, clock, rng)
        parts.append(part)
        used += size
    if used > room:
        raise ValueError(f"{flights} flights need {used + len(empty)} bytes, more than {target_bytes}")
    if used < room - _SLACK_BYTES:
        raise ValueError(f"{flights} flights cannot fill {target_bytes} bytes")
    head, tail = empty.decode("utf-8").split("</SCHD>")
    return (head + "".join(parts) + "</SCHD>" + tail).encode("utf-8")


def _filled(flight: Flight, budget: int, clock: Clock, rng: random.Random) -> tuple[str, int]:
    """The record with as many additional elements as the budget of bytes allows, and its size."""
    size = _size(flight.record())
    extra: list[Tag] = []
    for element in _more(flight, clock, rng):
        more = _size(element)
        if size + more > budget:
            break
        extra.append(element)
        size += more
    # Numbering the elements anew may take a few bytes more than was counted.
    while extra and _size(_with(flight, extra).record()) > budget:
        extra.pop()
    text = render(_with(flight, extra).record(), _COMPACT)
    return text, len(text.encode("utf-8"))


def _with(flight: Flight, extra: Iterable[Tag]) -> Flight:
    added: dict[str, list[Tag]] = {}
    for element in extra:
        added.setdefault(element.name, []).append(element)
    for name, elements_ in added.items():
        group = elements.renumber((*flight.groups.get(name, ()), *elements_))
        flight = flight.with_group(name, group)
    return flight


def _size(tag: Tag) -> int:
    return len(render(tag, _COMPACT).encode("utf-8"))


def _more(flight: Flight, clock: Clock, rng: random.Random) -> Iterator[Tag]:
    """Elements of every collection in turn, up to the limit of the wire for each."""
    at, wire = flight.sodt_min, clock.wire
    start, end, kind = wire(at - 120), wire(at - 20), flight.traffic
    stands = sis.COLLECTIONS["PSDT"].limit or 0
    for n in range(1, 90):
        code = f"{rng.randrange(100, 999)}"
        chute = elements.chute(n, f"CH0{code}", start, end, kind)
        yield evolve(chute, children=(*chute.children, Tag("CBTM", start), Tag("CETM", end)))
        desk = elements.desks((f"A{code}",), start, end, kind)[0]
        yield desk.put("COTM", start).put("CCTM", end)
        yield elements.bridge(n, code, "DU"[n % 2], wire(at + n))
        yield elements.chock(n, wire(at + n), ("ON", "OFF")[n % 2], code)
        reason, text = rng.choice(tables.DELAY_REASONS)
        yield elements.delay(reason, wire(at), n, text)
        yield elements.gate(n, f"B{code}", start, end, kind).put("GOTM", start)
        yield elements.belt(n, code, start, end, kind)
        if n < stands:
            yield elements.stand(n, code, start, end)
