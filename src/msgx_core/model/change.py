"""The one value that a decision produces and that the store writes in one transaction ① (D-01)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from attrs import field, frozen

from msgx_core.model.alert import Alert
from msgx_core.model.flight import DeleteReason, FlightState
from msgx_core.model.proc import Outcome
from msgx_core.model.reference import RefChange
from msgx_core.model.request import RequestEffect
from msgx_core.model.schedule import Roster, SenderMark


@frozen
class FlightPut:
    """The new whole state of one flight, and what it means for outbox and cache.

    `read_version` is the `STATE_VERSION` that was read (None: the row must not exist); another one in the
    store is a `Conflict`. `changed` names the tags that differ, in table order. `notice` is the `msg`
    payload and `document` the full state (None when deleted), both JSON objects as text. With
    `advanced` False nothing is new: only `LAST_MSG_ID` is written and there is no event (D-15).
    `raw_sections` replaces the raw XML sections as a whole; None leaves them.
    """

    state: FlightState
    read_version: int | None
    changed: tuple[str, ...] = ()
    notice: str | None = None
    document: str | None = None
    reason: DeleteReason | None = None
    advanced: bool = True
    raw_sections: Mapping[str, str] | None = None


@frozen
class RosterReplace:
    """A covered day gets this roster and the generation `read_version + 1` (CAS, D-11)."""

    day: date
    read_version: int
    flids: frozenset[int]


@frozen
class Change:
    """All effects of one message. `outcome` is what ③ will make final; `coverage` is for verification.

    Order of `flights` is the order in which `EVENT_ID`s are allocated. `roster_add` puts flights on the
    roster of their day (`{flid: day}`), `roster_remove` takes them off any roster; both come after the
    replacements in `rosters`.
    """

    msg_id: int
    at: datetime
    outcome: Outcome
    flights: tuple[FlightPut, ...] = ()
    rosters: tuple[RosterReplace, ...] = ()
    roster_add: Mapping[int, date] = field(factory=dict)
    roster_remove: frozenset[int] = frozenset()
    reference: tuple[RefChange, ...] = ()
    request: RequestEffect | None = None
    sender: SenderMark | None = None
    alerts: tuple[Alert, ...] = ()
    coverage: str | None = None


@frozen
class FlightQuery:
    """What a decision must see. The store answers it in one consistent read.

    Asked for: `flids`; members of the rosters of `roster_days`; live flights whose `sodt_at` lies in
    `interval` (inclusive). `maids` are main flights named by the message. The answer also holds, for code
    share, the main flights stored in `MAID` of what was asked for, and every live child of any of these.
    `days` are operation days whose generation is wanted.
    """

    flids: frozenset[int] = frozenset()
    maids: frozenset[int] = frozenset()
    roster_days: frozenset[date] = frozenset()
    days: frozenset[date] = frozenset()
    interval: tuple[datetime, datetime] | None = None
    sndr: str | None = None


@frozen
class FlightSnapshot:
    """The answer to a `FlightQuery`. Every live child of each flight or `maid` in it is in it too.

    `generations` has the roster generation of each day of the query and of each flight in it (0: none).
    `floors` has the last version of flights asked for that were archived (D-37). `in_interval` names
    the flights that matched the interval.
    """

    flights: Mapping[int, FlightState] = field(factory=dict)
    floors: Mapping[int, int] = field(factory=dict)
    rosters: Mapping[date, Roster] = field(factory=dict)
    generations: Mapping[date, int] = field(factory=dict)
    in_interval: frozenset[int] = frozenset()
    sender: SenderMark | None = None
