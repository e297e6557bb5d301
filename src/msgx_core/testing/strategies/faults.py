"""Broken messages, each named by the way it is broken, with what must become of it (D-12, D-25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from attrs import evolve
from hypothesis import strategies as st

from msgx_core.model.message import Node
from msgx_core.model.sis import CATEGORIES, MAX_VALUE_CHARS
from msgx_core.testing.strategies.breaking import Breakage, malformed, protocol
from msgx_core.testing.strategies.faults_of_bytes import BROKEN_BYTES, ODD_BYTES
from msgx_core.testing.strategies.faults_of_flights import BROKEN_FLIGHTS, BROKEN_UNDER_DAYS, ODD_FLIGHTS
from msgx_core.testing.strategies.legal import references, resource_statuses
from msgx_core.testing.wire import WireMessage

Broken = st.SearchStrategy[WireMessage]


def _lists() -> Broken:
    return references(styps=["DNLD", "RESP"])


def _steps() -> Broken:
    return references(styps=["ADD", "UPD", "DEL"])


def _downloads() -> Broken:
    return resource_statuses().filter(lambda sent: sent.styp == "DNLD")


def _miscounted(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    held = len(sent.records)
    return protocol(sent, f"recs-mismatch:{held + 1}!={held}", recs=str(held + 1))


def _no_key(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    first, *rest = sent.records
    bare = evolve(first, children=first.children[1:])
    return protocol(sent, f"key-missing:{CATEGORIES[sent.type].key}", records=(bare, *rest))


def _long_key(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    tag = CATEGORIES[sent.type].key
    first = Node(sent.type, children=(Node(tag, "K" * (MAX_VALUE_CHARS + 1)),))
    return protocol(sent, f"value-too-long:{tag}", records=(first, *sent.records[1:]))


def _repeated_key(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    records = (*sent.records, sent.records[0])
    key = sent.records[0].value(CATEGORIES[sent.type].key)
    return protocol(sent, f"duplicate-key:{key}", records=records, recs=str(len(records)))


def _empty_list(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return protocol(sent, "empty-full-list", records=(), recs="0")


def _no_records(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return malformed(sent, f"payload-missing:{sent.type}", records=(), recs="0")


def _status(**values: str) -> Node:
    held = {"RTYP": "GATE", "RSID": "B1", "STAT": "D", **values}
    return Node("RSTA", children=tuple(Node(tag, text) for tag, text in held.items()))


def _bad_status(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    tag = draw(st.sampled_from(["RTYP", "STAT", "STRT", "ENDT"]))
    return protocol(sent, f"rsta-invalid:{tag}", records=(_status(**{tag: "?"}),), recs="1")


def _backward(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    window = _status(STRT="14MAR271200", ENDT=draw(st.sampled_from(["14MAR271200", "14MAR270000"])))
    return protocol(sent, "rsta-invalid:ENDT", records=(window,), recs="1")


def _two_statuses(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return protocol(sent, "rsta-records:2", records=(_status(), _status(RSID="B2")), recs="2")


FAULTS: Mapping[str, Breakage] = MappingProxyType(
    {
        **BROKEN_BYTES,
        **BROKEN_FLIGHTS,
        "miscounted-records": Breakage(lambda: st.one_of(references(), resource_statuses()), _miscounted),
        "key-missing": Breakage(references, _no_key),
        "key-too-long": Breakage(references, _long_key),
        "repeated-key": Breakage(_lists, _repeated_key),
        "empty-full-list": Breakage(_lists, _empty_list),
        "no-records": Breakage(_steps, _no_records),
        "bad-status": Breakage(resource_statuses, _bad_status),
        "window-ends-first": Breakage(resource_statuses, _backward),
        "two-statuses": Breakage(_downloads, _two_statuses),
    }
)
"""Every way of being broken, by its name."""

ODDITIES: Mapping[str, Breakage] = MappingProxyType({**ODD_BYTES, **ODD_FLIGHTS})
"""Every way of being odd and taken all the same, by its name."""

UNDER_DAYS: Mapping[str, Breakage] = BROKEN_UNDER_DAYS
"""Ways in which an answer (`RESP`) is broken because it covers whole days."""


@st.composite
def broken(draw: st.DrawFn, names: Iterable[str] = tuple(FAULTS)) -> WireMessage:
    """A broken message; its `fault` has the name, and the error code and reason with which it must end.

    `names` are among `FAULTS`, `ODDITIES` and `UNDER_DAYS`. A `FLOP` is broken under the whitelist `all`:
    under a smaller one it is passed over, broken or not. An answer needs the open request that it answers.

    >>> from hypothesis import given
    >>> @given(broken(["recs-mismatch"]))
    ... def miscounts(message):
    ...     assert int(message.recs) != len(message.flights)
    ...     assert message.fault.code == "PROTOCOL"
    ...     assert message.fault.reason == f"recs-mismatch:{message.recs}!={len(message.flights)}"
    >>> miscounts()
    """
    known = {**FAULTS, **ODDITIES, **UNDER_DAYS}
    wanted = {names} if isinstance(names, str) else set(names)
    if not wanted or wanted - known.keys():
        unknown = ", ".join(sorted(wanted - known.keys())) or "none given"
        raise ValueError(f"no such fault: {unknown}; there are {', '.join(sorted(known))}")
    name = draw(st.sampled_from(sorted(wanted)))
    breakage = known[name]
    spoilt = breakage.spoil(draw, draw(breakage.legal()))
    assert spoilt.fault is not None, f"{name} says what becomes of it"
    return evolve(spoilt, fault=evolve(spoilt.fault, name=name))
