"""The messages that should not be: late, sent twice, unknown, unsupported, contradictory, broken."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from attrs import evolve

from msgx_app.simulator.edits import EDITS, Desk
from msgx_app.simulator.elements import none_now, stand
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.markup import PROLOG, Tag, document, record
from msgx_app.simulator.world import PLAIN, Event, Outgoing, World
from msgx_core.model import sis

_OVER_THE_LIMIT = 10


def _again(world: World, _: float) -> Outgoing | None:
    """The same bytes a second time."""
    if not world.recent:
        return None
    sent = world.rng.choice(tuple(world.recent))
    return Outgoing(f"{sent.label}-again", sent.raw)


def _other_content(world: World, _: float) -> Outgoing | None:
    """An identity used again, and another content under it."""
    for sent in reversed(world.recent):
        empty = tuple(none_now(name) for name in sis.FLOP_ROWS[sent.meta.styp].tags)
        body = evolve(sent.body, children=(*sent.body.children[:2], *empty))
        if body != sent.body:
            return Outgoing(f"{sent.label}-other-content", document(sent.meta, (body,), PLAIN))
    return None


def _flop(world: World, at_s: float, flid: str, *tags: Tag, label: str) -> Outgoing:
    ids = (Tag("FLID", flid), Tag("FFID", "XX-XX000-D-01JAN200000-D"))
    sent = world.send("FLOP", tags[0].name, (Tag("FLOP", children=(*ids, *tags)),), at_s)
    return evolve(sent, label=f"{sent.label}-{label}")


def _any_flight(world: World) -> Flight | None:
    known = [f for f in world.flights.values() if f.scheduled]
    return world.rng.choice(known) if known else None


def _stand_now(world: World, at_s: float, no: int = 1) -> Tag:
    minute = at_s // 60
    return stand(no, str(200 + no), world.clock.wire(minute), world.clock.wire(minute + 45))


def _unknown_flight(world: World, at_s: float) -> Outgoing:
    flid = world.plan.first_flid + 1_000_000 + world.rng.randrange(10_000)
    return _flop(world, at_s, str(flid), _stand_now(world, at_s), label="unknown-flight")


def _deleted_flight(world: World, at_s: float) -> Outgoing | None:
    if not world.deleted:
        return None
    flid = world.rng.choice(tuple(world.deleted))
    return _flop(world, at_s, str(flid), _stand_now(world, at_s), label="deleted-flight")


def _unsupported(world: World, at_s: float) -> Outgoing:
    year = world.clock.local(at_s).year % 100
    season = record("SCHS", ("SNAM", f"S{year:02d}"), ("RECS", "0"))
    return world.send("SCHS", "DNLD", (season,), at_s)


def _unmatched(world: World, at_s: float) -> Outgoing | None:
    flight = _any_flight(world)
    return None if flight is None else world.schedule("RESP", (flight,), at_s)


def _not_xml(world: World, at_s: float) -> Outgoing:
    text = f"SNDR:{world.plan.sender} {world.clock.dttm(at_s)} 航班动态 <not> a & message\n"
    return Outgoing("bad-not-xml", text.encode("utf-8"))


def _truncated(world: World, at_s: float) -> Outgoing:
    whole = _unsupported(world, at_s).raw
    return Outgoing("bad-truncated", whole[: len(whole) * 2 // 3])


def _doctype(world: World, at_s: float) -> Outgoing:
    whole = _unsupported(world, at_s).raw.decode("utf-8")
    doctype = '<!DOCTYPE MSG [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    return Outgoing("bad-doctype", (PROLOG + doctype + whole.removeprefix(PROLOG)).encode("utf-8"))


def _recs_mismatch(world: World, at_s: float) -> Outgoing:
    desks = tuple(record("CLST", ("CCOD", r.code), ("CTML", r.terminal)) for r in world.site.desks[:3])
    return world.send("CLST", "DNLD", (Tag("RECS", "5"), *desks), at_s)


def _bad_time(world: World, at_s: float) -> Outgoing | None:
    flight = _any_flight(world)
    if flight is None:
        return None
    bad = _stand_now(world, at_s).put("STST", f"30FEB{world.clock.local(at_s).year % 100:02d}0100")
    return _flop(world, at_s, str(flight.flid), bad, label="bad-time")


def _overflow(world: World, at_s: float) -> Outgoing | None:
    flight = _any_flight(world)
    if flight is None:
        return None
    many = tuple(_stand_now(world, at_s, no) for no in range(1, _OVER_THE_LIMIT + 1))
    return _flop(world, at_s, str(flight.flid), *many, label="overflow")


def _bad_flid(world: World, at_s: float) -> Outgoing:
    text = world.rng.choice(("QX-1101", "0", "12A45", "1234567890123", ""))
    return _flop(world, at_s, text, _stand_now(world, at_s), label="bad-flid")


def _duplicate_flid(world: World, at_s: float) -> Outgoing | None:
    flight = _any_flight(world)
    return None if flight is None else world.schedule("DNLD", (flight, flight), at_s)


_MAKERS: Mapping[str, Callable[[World, float], Outgoing | None]] = MappingProxyType(
    {
        "duplicate": _again,
        "duplicate-other-content": _other_content,
        "unknown-flight": _unknown_flight,
        "deleted-flight": _deleted_flight,
        "unsupported": _unsupported,
        "unmatched-resp": _unmatched,
        "not-xml": _not_xml,
        "truncated": _truncated,
        "doctype": _doctype,
        "recs-mismatch": _recs_mismatch,
        "bad-time": _bad_time,
        "overflow": _overflow,
        "bad-flid": _bad_flid,
        "duplicate-flid": _duplicate_flid,
    }
)
LATE = "late"
FAULTS: tuple[str, ...] = (*_MAKERS, LATE)
"""Every kind of fault. Only `late` and `unknown-flight` have an effect on flights when they are received."""

BROKEN = frozenset({"not-xml", "truncated"})
"""The kinds whose bytes are not well-formed XML."""


def fault_event(kind: str, at_s: float) -> Event:
    """The event that sends one fault of that kind (any but `late`)."""

    def run(world: World, now_s: float) -> Outgoing | None:
        made = _MAKERS[kind](world, now_s)
        return made and evolve(made, fault=kind)

    return Event(at_s, run)


def fault_events(desk: Desk, rng: random.Random, count: int) -> list[Event]:
    """So many faults, each kind as often as the others, in the later part of the desk's time."""
    events: list[Event] = []
    begin_s = desk.first_s + 0.35 * (desk.last_s - desk.first_s)
    for i in range(count):
        kind = FAULTS[i % len(FAULTS)]
        if kind == LATE:
            events += desk.edit(rng.choice(EDITS), late_s=rng.uniform(300, 2400))
        else:
            events.append(fault_event(kind, round(rng.uniform(begin_s, desk.last_s), 3)))
    return events
