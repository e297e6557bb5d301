"""The inbox port: the shared mailbox that other people own (IMP §4.1, D-35, D-43)."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgx_core.ports.codec import RawText
from msgx_core.ports.permit import Permit


class MarkResult(enum.Enum):
    """What became of writing the processing time (IMP §6.2)."""

    WRITTEN = "WRITTEN"
    ALREADY_MARKED = "ALREADY_MARKED"
    MISSING_ROW = "MISSING_ROW"


class Inbox(Protocol):
    """Every call is bounded in time and raises `Transient("mailbox", …)` when the mailbox is unreachable.

    No cursor, transaction or snapshot outlives a call: each sees what is committed at that time.
    """

    def scan(self, after: int, limit: int) -> Sequence[int]:
        """Up to `limit` ids above `after` whose processing time is empty, ascending (INV-1).

        A zero date counts as empty. Reads ids only.
        """
        ...

    def received_at(self, ids: Sequence[int]) -> Mapping[int, datetime | None]:
        """When the owner says these rows came in, as instants; absent rows are left out."""
        ...

    def fetch(self, msg_id: int) -> RawText | None:
        """The text of a row; None when the row is gone or its text is NULL.

        Raises `Rejected("raw-unreadable")` when this one row cannot be read.
        """
        ...

    def fetch_small(self, ids: Sequence[int], most_bytes: int) -> Mapping[int, RawText]:
        """The texts of these rows that are there and no longer than `most_bytes`, in one go.

        Rows that are gone, NULL, longer or cannot be read are left out: `fetch` tells about each.
        """
        ...

    def mark(
        self, marks: Sequence[tuple[int, datetime]], permit: Permit | None = None
    ) -> Mapping[int, MarkResult | Exception]:
        """Write the processing time (instant; stored in whole seconds of airport local time).

        Only where it is empty: an existing mark is never overwritten. A failure of one row is that row's
        value, the others go on; an unreachable mailbox raises `Transient`. Each row is written at once or
        not at all; when several are written together and some had the very same time already, all of
        these may be `WRITTEN`.

        With a `permit` every write begins within its time; `Late` when three in a row did not get to it. What
        has begun may still wait for locks of others. After `Transient`, `Late` or what `permit` raised, some
        rows may be written: to mark them again changes nothing.
        """
        ...

    def send(self, raw: RawText) -> int:
        """Put a message in, unmarked, received now; returns its id.

        Raises `ValueError` when a text mailbox cannot hold these bytes (D-44).
        """
        ...

    def send_many(self, raws: Sequence[RawText]) -> list[int]:
        """The same for several, in this order, all or none; returns their ids."""
        ...

    def check_rights(self) -> None:
        """At start: return when rows may be marked; nothing is changed by that.

        `ConfigError` names the right that is missing and how it is given. `Transient` when the mailbox does
        not answer; one that takes no writes at the moment may say nothing of rights, and passes.
        """
        ...

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Give connections back. Idempotent."""
        ...
