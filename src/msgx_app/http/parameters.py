"""Parameters that several operations take, and what bounds them."""

from __future__ import annotations

import enum
from typing import Annotated, Final

from litestar.params import PathParameter, QueryParameter
from msgspec import Meta, Struct

from msgx_core.model.events import Target
from msgx_core.model.flight import FlightStatus
from msgx_core.model.proc import MessageState

MAX_PAGE: Final = 1000
MAX_IDS: Final = 1000
MIN_ID, MAX_ID = -(2**53) + 1, 2**53 - 1
"""Ids that every JSON reader gets right."""


Limit = Annotated[int, QueryParameter(ge=1, le=MAX_PAGE, description="At most so many.")]
Id = Annotated[int, PathParameter(ge=MIN_ID, le=MAX_ID)]
AfterId = Annotated[
    int | None,
    QueryParameter(ge=MIN_ID, le=MAX_ID, description="Go on behind this id; `Link` has the next page."),
]
Text = Annotated[str | None, QueryParameter(max_length=200)]
State = Annotated[
    MessageState | None, QueryParameter(name="state", description="Only messages in this state.")
]
Flight = Annotated[int, PathParameter(ge=1, le=999_999_999_999, description="FLID.")]
Status = Annotated[FlightStatus | None, QueryParameter(name="state", description="Default: both.")]


class Topic(enum.Enum):
    """How a target is named, here as on the command line."""

    MSG = "msg"
    SCHD = "schd"

    @property
    def target(self) -> Target:
        """The target."""
        return Target[self.name]


ReasonText = Annotated[
    str,
    Meta(min_length=1, max_length=1000, pattern=r"\S", description="Why; kept in the audit."),
]
_Ids = Annotated[list[Annotated[int, Meta(ge=MIN_ID, le=MAX_ID)]], Meta(min_length=1, max_length=MAX_IDS)]


class Reason(Struct, forbid_unknown_fields=True):
    """Why something is done."""

    reason: ReasonText


class Targets(Struct, forbid_unknown_fields=True):
    """What something is done to, and why."""

    ids: _Ids
    reason: ReasonText


class EventTargets(Struct, forbid_unknown_fields=True):
    """Dead events. Each topic counts its own ids; without `target` an id means the events of both."""

    ids: _Ids
    reason: ReasonText
    target: Topic | None = None


class MaybeAll(Struct, forbid_unknown_fields=True):
    """Ids, or all of them."""

    reason: ReasonText
    ids: _Ids | None = None
    all: bool = False


class Replay(Struct, forbid_unknown_fields=True):
    """Failed and dead messages that run again, or (`dry_run`, without a reason) what would come of it."""

    ids: _Ids
    reason: ReasonText | None = None
    force: bool = False
    from_archive: bool = False
    dry_run: bool = False


class Ask(Struct, forbid_unknown_fields=True):
    """What to ask the AODB for: `schedule` is `DAY` or `DAY..DAY`, `ref` a category such as GLST.

    More than 31 days need `yes`: an answer without records deletes the roster of every one.
    """

    reason: ReasonText
    schedule: Annotated[str, Meta(max_length=50)] | None = None
    ref: Annotated[str, Meta(max_length=10)] | None = None
    yes: bool = False
