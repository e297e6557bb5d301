"""What the tables of broken messages share: how one is made from a legal one, and how its fate is noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve, frozen
from hypothesis import strategies as st

from msgx_core.testing.wire import Fault, PlainValue, WireMessage

Spoil = Callable[[st.DrawFn, WireMessage], WireMessage]
"""Breaks a legal message and notes what must become of it."""


@frozen
class Breakage:
    """Which legal messages can be broken this way, and how."""

    legal: Callable[[], st.SearchStrategy[WireMessage]]
    spoil: Spoil


def protocol(sent: WireMessage, reason: str, **changes: Any) -> WireMessage:
    """Changed so that it must end as `DEAD(PROTOCOL)` with that reason."""
    return evolve(sent, fault=Fault("", "PROTOCOL", reason), **changes)


def malformed(sent: WireMessage, reason: str, **changes: Any) -> WireMessage:
    """Changed so that it must end as `DEAD(MALFORMED)` with that reason."""
    return evolve(sent, fault=Fault("", "MALFORMED", reason), **changes)


def undecodable(sent: WireMessage, reason: str, written: bytes) -> WireMessage:
    """Bytes that are `DEAD(MALFORMED)` before they have an identity."""
    return evolve(sent, fault=Fault("", "MALFORMED", reason, undecodable=True), written=written)


def odd(sent: WireMessage, **changes: Any) -> WireMessage:
    """Changed so that it is odd, and taken all the same."""
    return evolve(sent, fault=Fault(""), **changes)


def with_first(sent: WireMessage, **tags: PlainValue) -> WireMessage:
    """Other values of tags in the first record."""
    return evolve(sent, flights=({**sent.flights[0], **tags}, *sent.flights[1:]))


def only(sent: WireMessage, **tags: PlainValue) -> WireMessage:
    """One record with its `FLID` and these tags alone."""
    recs = None if sent.recs is None else "1"
    return evolve(sent, flights=({"FLID": sent.flights[0]["FLID"], **tags},), recs=recs)
