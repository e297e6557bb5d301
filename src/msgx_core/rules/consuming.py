"""For consumers: a correct copy of the flights, however often and in whatever order events come (D-28, D-29).

A full state comes on `schd`, a deletion on `msg` only; both carry the `STATE_VERSION`, which only rises for a
FLID, also after the flight was deleted, archived and came back (D-37). So the newest version wins, whatever
came first. Keep the tombstones: without them a late full state would bring a deleted flight back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from msgx_core.rules.render import is_newer


@frozen
class Held:
    """What a consumer has of one flight: its version, and its full state, or None when it is gone."""

    version: int
    flight: Mapping[str, Any] | None = None


def take_notice(held: Held | None, notice: Mapping[str, Any]) -> Held | None:
    """What is held after a `msg` value: a tombstone when it is a newer deletion, else what was held.

    >>> gone = {"FLID": 7, "KIND": "DELETE", "STATE_VERSION": 3, "DELETED": True, "REASON": "FDEL"}
    >>> take_notice(Held(2, {"FLID": 7}), gone)
    Held(version=3, flight=None)
    >>> take_notice(Held(4, {"FLID": 7}), gone)
    Held(version=4, flight={'FLID': 7})
    """
    version = notice["STATE_VERSION"]
    if notice.get("DELETED") and is_newer(None if held is None else held.version, version):
        return Held(version)
    return held


def take_flight(held: Held | None, flight: Mapping[str, Any]) -> Held | None:
    """What is held after a full state: that one when it is newer, else what was held.

    >>> take_flight(Held(3), {"FLID": 7, "STATE_VERSION": 2})
    Held(version=3, flight=None)
    """
    version = flight["STATE_VERSION"]
    if is_newer(None if held is None else held.version, version):
        return Held(version, flight)
    return held


def flights_in(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The full states in a `schd` value.

    >>> list(flights_in({"SCHD": {"FLTR": [{"FLID": 7}]}}))
    [{'FLID': 7}]
    """
    yield from value["SCHD"]["FLTR"]


def is_behind(held: Held | None, notice: Mapping[str, Any]) -> bool:
    """Whether a notice tells of a newer version than is held: its full state is still to come.

    >>> is_behind(Held(3), {"FLID": 7, "KIND": "UPSERT", "STATE_VERSION": 4})
    True
    """
    return is_newer(None if held is None else held.version, notice["STATE_VERSION"])
