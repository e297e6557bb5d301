"""The repeated elements of a flight (gates, desks, belts, ...) as the wire shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import evolve

from msgx_app.simulator.clock import Clock, duration
from msgx_app.simulator.markup import Tag, record
from msgx_core.model import sis

Group = tuple[Tag, ...]


def gate(no: int, code: str, opens: str, closes: str, kind: str) -> Tag:
    """A boarding gate with its planned times."""
    return record("GTDT", ("GATE", code), ("PGOT", opens), ("PGCT", closes), ("GTYP", kind), GTNO=str(no))


def desks(codes: Iterable[str], opens: str, closes: str, kind: str) -> Group:
    """Check-in desks: the first is for first class, the last one for late passengers."""
    codes = tuple(codes)
    classes = ("F", *("Y" for _ in codes[2:]), "X")
    return tuple(
        record(
            "CKDT",
            ("CHKC", code),
            ("CCLS", classes[i]),
            ("PCOT", opens),
            ("PCCT", closes),
            ("CTYP", kind),
            CKNO=str(i + 1),
        )
        for i, code in enumerate(codes)
    )


def belt(no: int, code: str, opens: str, closes: str, kind: str) -> Tag:
    """A baggage belt with its planned times."""
    pairs = (("BELT", code), ("BCLS", "X"), ("PCOT", opens), ("PCCT", closes), ("BTYP", kind))
    return record("CLDT", *pairs, CLNO=str(no))


def chute(no: int, code: str, opens: str, closes: str, kind: str) -> Tag:
    """A baggage chute with its planned times."""
    pairs = (("CHUT", code), ("CCLS", "X"), ("PCBT", opens), ("PCET", closes), ("CTYP", kind))
    return record("CHDT", *pairs, CHNO=str(no))


def stand(no: int, code: str, start: str, end: str) -> Tag:
    """A planned stand."""
    return record("PSDT", ("PSST", code), ("STST", start), ("STET", end), PSNO=str(no))


def chock(no: int, at: str, kind: str, code: str) -> Tag:
    """Chocks `ON` or `OFF`."""
    return record("CHOT", ("CHTM", at), ("CHID", kind), ("CHST", code), CSNO=str(no))


def bridge(no: int, code: str, kind: str, at: str) -> Tag:
    """An air bridge docked (`D`) or undocked (`U`)."""
    return record("ABTM", ("ABDG", code), ("ABOP", kind), ("AOTM", at), ASNO=str(no))


def delay(code: str, start: str, minutes: int, text: str) -> Tag:
    """A delay with its reason."""
    return Tag("DELY", text, attributes=(("CODE", code), ("STRT", start), ("DURA", duration(minutes))))


def route(name: str, clock: Clock, points: Iterable[str], leaves: int, arrives: int) -> Group:
    """`ROUT` or `ERUT`: the origin has no arrival (`SCAT`), the destination no departure (`SCDT`)."""
    points = tuple(points)
    last = len(points) - 1
    leg = max(1, (arrives - leaves) // max(1, last))
    elements = []
    for i, code in enumerate(points):
        pairs = [("APCD", code)]
        if i > 0:
            pairs.append(("SCAT", clock.wire(arrives if i == last else leaves + i * leg - 30)))
        if i < last:
            pairs.append(("SCDT", clock.wire(leaves + i * leg)))
        elements.append(record(name, *pairs, RTNO=str(i + 1)))
    return tuple(elements)


def renumber(group: Iterable[Tag]) -> Group:
    """The same elements with sequence attributes 1, 2, 3, ..."""
    return tuple(
        evolve(element, attributes=((sequence, str(i)),))
        if (sequence := sis.COLLECTIONS[element.name].sequence)
        else element
        for i, element in enumerate(group, start=1)
    )


def none_now(name: str) -> Tag:
    """What says "none now": sequence 0 and no content, `<DELY/>`, `<FDIV DDES="">`, `<FRET>`."""
    if name == "FDIV":
        return Tag(name, attributes=(("DDES", ""),))
    collection = sis.COLLECTIONS.get(name)
    if collection is None or collection.sequence is None:
        return Tag(name)
    return Tag(name, attributes=((collection.sequence, "0"),))


def each(put: str, text: str) -> Callable[[Group], Group]:
    """A change that sets one child of every element."""
    return lambda group: tuple(element.put(put, text) for element in group)
