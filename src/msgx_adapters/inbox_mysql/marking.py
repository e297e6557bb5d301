"""Write-back into MySQL: many rows per statement, each row's own fate (IMP §6.2, D-26, R-144, R-145)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

from attrs import frozen

from msgx_adapters.mysql_link import Busy, Link, Session, filled_list
from msgx_core.errors import Rejected, Transient
from msgx_core.ports.inbox import MarkResult

from .statements import Statements

Fate = MarkResult | Exception

_PER_STATEMENT = 200
_CASES = "/*cases*/"
_TRIES = 3


@frozen
class Marker:
    """Marks rows through a link; times are texts of whole seconds.

    The common case is one statement for all rows: when it changed as many rows as it named, each of them is
    ours. Otherwise it is taken back, rows that are gone or marked are sorted out, and the rest tried again.
    What fails is tried row by row.
    """

    link: Link
    sql: Statements
    timeout_s: float

    def mark(self, marks: Mapping[int, str]) -> dict[int, Fate]:
        """The fate of each row. Raises `Transient` when nothing can be written at all."""
        fates: dict[int, Fate] = {}
        rest = iter(marks.items())
        while rows := dict(islice(rest, _PER_STATEMENT)):
            fates |= self.link.run(partial(self._together, rows=rows), again=True)
        return fates

    def _together(self, session: Session, rows: dict[int, str]) -> dict[int, Fate]:
        fates: dict[int, Fate] = {}
        for _ in range(_TRIES):
            try:
                if self._all_written(session, rows):
                    return fates | dict.fromkeys(rows, MarkResult.WRITTEN)
            except (Busy, Rejected):
                break
            fates |= self._settled(session, rows)
            rows = {msg_id: at for msg_id, at in rows.items() if msg_id not in fates}
            if not rows:
                return fates
        return fates | dict(self._one_by_one(session, rows))

    def _all_written(self, session: Session, rows: Mapping[int, str]) -> bool:
        """Whether all were written; if not, none was."""
        try:
            with session.transaction():
                if self._write(session, rows) != len(rows):
                    raise _NotAllError
        except _NotAllError:
            return False
        return True

    def _write(self, session: Session, rows: Mapping[int, str]) -> int:
        cases = " ".join(f"WHEN {msg_id:d} THEN '{at}'" for msg_id, at in rows.items())
        return session.run(filled_list(self.sql.mark, rows).replace(_CASES, cases)).changed

    def _settled(self, session: Session, rows: Mapping[int, str]) -> dict[int, Fate]:
        """Rows that cannot be marked: they are gone, or somebody did it."""
        found = session.run(filled_list(self.sql.marked, rows)).rows
        there = {int(msg_id or 0): marked == b"1" for msg_id, marked in found}
        fates: dict[int, Fate] = {i: MarkResult.MISSING_ROW for i in rows if i not in there}
        return fates | {i: MarkResult.ALREADY_MARKED for i, marked in there.items() if marked}

    def _one_by_one(self, session: Session, rows: Mapping[int, str]) -> Iterator[tuple[int, Fate]]:
        """Each row in a statement of its own, for as long as there is time.

        When all that could be tried wait for locks, the mailbox as a whole is locked: `Transient`.
        """
        end = time.monotonic() + self.timeout_s
        held: Busy | None = None
        moved = False
        for msg_id, at in rows.items():
            if time.monotonic() > end and held is not None:
                if not moved:
                    raise Transient("mailbox", f"rows are locked: {held.detail}") from held
                yield msg_id, Rejected("mailbox-rejected", f"not tried, other rows are locked: {held.detail}")
                continue
            try:
                yield msg_id, self._alone(session, msg_id, at)
                moved = True
            except Busy as error:
                held = error
                yield msg_id, Rejected("mailbox-rejected", error.detail)

    def _alone(self, session: Session, msg_id: int, at: str) -> Fate:
        row = {msg_id: at}
        try:
            for _ in range(_TRIES):
                if self._write(session, row):
                    return MarkResult.WRITTEN
                if settled := self._settled(session, row):
                    return settled[msg_id]
        except Rejected as error:
            return error
        return Rejected("mailbox-rejected", "the row is there, and stays without a mark when it is written")


class _NotAllError(Exception):
    """Some of the rows were gone or marked."""
