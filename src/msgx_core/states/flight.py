"""Life of a flight (D-06, D-07, D-33)."""

from __future__ import annotations

import enum

from msgx_core.states.machine import Machine, rows


class FlightLife(enum.Enum):
    """As a message meets it; the last two have no row of their own."""

    ABSENT = "ABSENT"
    ACTIVE = "ACTIVE"
    DELETED = "DELETED"
    ARCHIVED = "ARCHIVED"


class FlightEvent(enum.Enum):
    """What can happen to a flight."""

    COMPLETE = "complete"
    CHANGE = "change"
    DELETE = "delete"
    ARCHIVE = "archive"


_L = FlightLife

FLIGHT: Machine[FlightLife, FlightEvent] = Machine(
    name="flight",
    initial=frozenset({_L.ABSENT}),
    terminal=frozenset(),
    transitions=(
        # A complete record or an ADFT makes, changes, rebuilds.
        *rows("D-07", FlightEvent.COMPLETE, ((life, _L.ACTIVE) for life in _L)),
        # A FLOP makes or changes; late news does not resurrect.
        *rows("D-08", FlightEvent.CHANGE, ((_L.ABSENT, _L.ACTIVE), (_L.ACTIVE, _L.ACTIVE))),
        *rows("R-115", FlightEvent.DELETE, ((_L.ACTIVE, _L.DELETED),)),
        *rows("D-33", FlightEvent.ARCHIVE, ((_L.ACTIVE, _L.ARCHIVED), (_L.DELETED, _L.ARCHIVED))),
    ),
)
