"""A simulated flight as its AODB holds it, and the two forms in which it goes out (`FLTR`, `FLOP`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from msgx_app.simulator.elements import Group, none_now
from msgx_app.simulator.markup import Tag
from msgx_core.model import sis


@frozen
class Flight:
    """The current state of one flight.

    `values` holds scalars as sent (an empty text: explicitly cleared, no key: never given); `groups` holds
    collections and the single elements `FDIV` and `FRET` (an empty tuple: explicitly none). `sodt_min` is
    its scheduled time in minutes of the stretch and never changes; `main` is the main flight of a code share.
    """

    flid: int
    arriving: bool
    sodt_min: int
    values: Mapping[str, str]
    groups: Mapping[str, Group]
    main: int | None = None

    @property
    def traffic(self) -> str:
        """`D` or `I`, as planned."""
        return "D" if self.values.get("FLIN") == "D" else "I"

    @property
    def ffid(self) -> str:
        """The descriptive id (`CA-CA101-A-12DEC031345-D`); nothing may be read from it."""
        v = self.values
        parts = (v.get("ALCD", ""), v.get("FLNO", ""), v.get("MVIN", ""), v.get("SODT", ""), self.traffic)
        return "-".join(parts)

    @property
    def scheduled(self) -> bool:
        """Whether its scheduled time has been told; not so for one that only a `FLOP` has named."""
        return "SODT" in self.values

    def with_values(self, **values: str) -> Flight:
        """The flight with these scalars replaced."""
        return evolve(self, values={**self.values, **values})

    def with_group(self, name: str, group: Group) -> Flight:
        """The flight with this collection replaced as a whole."""
        return evolve(self, groups={**self.groups, name: group})

    def record(self) -> Tag:
        """The complete record, `FLTR`: all that is known, in the order of the tag table."""
        children = [Tag("FLID", str(self.flid))]
        for name in sis.MODEL_TAGS:
            children += self._tags(name)
        return Tag("FLTR", children=tuple(children))

    def body(self, styp: str, flid: str) -> Tag:
        """The `FLOP` of that STYP with the flight's current values; what is not there goes as empty."""
        content: list[Tag] = []
        for name in sis.FLOP_ROWS[styp].tags:
            content += self._tags(name) or [none_now(name)]
        return Tag("FLOP", children=(Tag("FLID", flid), Tag("FFID", self.ffid), *content))

    def _tags(self, name: str) -> list[Tag]:
        if name in self.groups:
            return list(self.groups[name]) or [none_now(name)]
        return [Tag(name, self.values[name])] if name in self.values else []


Change = Callable[[Flight], Flight]
"""A step of a flight's life. What the message says is read from the state after it."""


def set_values(**values: str) -> Change:
    """A change that sets scalars; an empty text clears."""
    return lambda flight: flight.with_values(**values)


def set_group(name: str, *elements: Tag) -> Change:
    """A change that replaces a collection; without elements it is emptied."""
    return lambda flight: flight.with_group(name, elements)


def alter_group(name: str, alter: Callable[[Group], Group]) -> Change:
    """A change that works on the elements that are there; an absent collection stays absent."""

    def change(flight: Flight) -> Flight:
        return flight.with_group(name, alter(flight.groups[name])) if name in flight.groups else flight

    return change


def extend_group(name: str, element: Callable[[int], Tag]) -> Change:
    """A change that adds an element; it is given its number."""

    def change(flight: Flight) -> Flight:
        group = flight.groups.get(name, ())
        return flight.with_group(name, (*group, element(len(group) + 1)))

    return change
