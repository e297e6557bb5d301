"""Write-back into MySQL: many rows per statement, each row's own fate (IMP §6.2, D-26, R-144, R-145)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import islice

from attrs import define, field, frozen

from msgx_adapters.mysql_link import (
    LONG_AGO,
    NEVER,
    TRIES,
    Busy,
    Link,
    Session,
    filled_list,
    too_late,
    until,
)
from msgx_core.errors import Rejected, Transient
from msgx_core.ports.inbox import MarkResult
from msgx_core.ports.permit import Permit

from .statements import Statements

Fate = MarkResult | Exception

_PER_STATEMENT = 200
_CASES = "/*cases*/"


@frozen
class Marker:
    """Marks rows through a link; times are texts of whole seconds.

    The common case is one statement for all rows: when it changed as many rows as it named, each of them is
    ours. Otherwise rows that are gone or marked are sorted out, and what is left is tried row by row, as is
    everything when the statement is refused.
    """

    link: Link
    sql: Statements
    timeout_s: float

    def mark(self, marks: Mapping[int, str], permit: Permit | None) -> dict[int, Fate]:
        """The fate of each row. Raises `Transient` when nothing can be written at all, `Late`, and what
        `permit` raises."""
        work = _Marking(self.sql, dict(marks), self.timeout_s)
        in_vain = 0
        while work.waiting:
            before = len(work.waiting)
            work.until = NEVER if permit is None else until(self.link, permit)
            self.link.run(work.go_on, again=True)
            in_vain = in_vain + 1 if len(work.waiting) == before else 0
            if in_vain == TRIES:
                raise too_late()
        return work.fates

    def in_vain(self, session: Session) -> None:
        """The statement that marks, too late for any row."""
        _Marking(self.sql, {}, self.timeout_s, until=LONG_AGO).write(session, {0: "2000-01-01 00:00:00"})


@define
class _Marking:
    """Rows that wait for their fate, and fates; `until` is the end of the permit."""

    sql: Statements
    waiting: dict[int, str]
    timeout_s: float
    until: str = NEVER
    fates: dict[int, Fate] = field(factory=dict)
    _end: float | None = None
    _held: Busy | None = None

    def go_on(self, session: Session) -> None:
        """The next rows; those that the permit is over for go on waiting."""
        rows = dict(islice(self.waiting.items(), _PER_STATEMENT))
        try:
            changed = self.write(session, rows)
        except (Busy, Rejected):
            self._one_by_one(session, rows)
            return
        if changed == len(rows):
            self._settle(rows, MarkResult.WRITTEN)
        elif self._sort_out(session, rows, changed):
            self._one_by_one(session, {i: at for i, at in rows.items() if i in self.waiting})

    def write(self, session: Session, rows: Mapping[int, str]) -> int:
        """How many of these rows got their time, before the permit was over."""
        cases = " ".join(f"WHEN {msg_id:d} THEN '{at}'" for msg_id, at in rows.items())
        sql = filled_list(self.sql.mark, rows).replace(_CASES, cases)
        return session.run(sql, (self.until,)).changed

    def _sort_out(self, session: Session, rows: Mapping[int, str], changed: int) -> bool:
        """Settle what is gone or marked; whether there is time for the rest."""
        found = session.run(filled_list(self.sql.marked, rows), (self.until,)).rows
        there = {int(msg_id or 0): marked for msg_id, marked, _ in found}
        for msg_id, at in rows.items():
            marked = there.get(msg_id)
            if msg_id not in there:
                self._settle([msg_id], MarkResult.MISSING_ROW)
            elif marked is not None:
                ours = changed and _is(marked, at)
                self._settle([msg_id], MarkResult.WRITTEN if ours else MarkResult.ALREADY_MARKED)
        return all(over != b"1" for _, _, over in found)

    def _one_by_one(self, session: Session, rows: Mapping[int, str]) -> None:
        """Each row in a statement of its own, for as long as there is time.

        When all that could be tried wait for locks, the mailbox as a whole is locked: `Transient`.
        """
        if self._end is None:
            self._end = time.monotonic() + self.timeout_s
        for msg_id, at in rows.items():
            if time.monotonic() > self._end and self._held is not None:
                self._give_up(rows, self._held)
                return
            try:
                if not self._alone(session, msg_id, at):
                    return
            except Busy as error:
                self._held = error
                self._settle([msg_id], Rejected("mailbox-rejected", error.detail))

    def _alone(self, session: Session, msg_id: int, at: str) -> bool:
        """Settle this row; False: the permit is over."""
        row = {msg_id: at}
        try:
            for _ in range(TRIES):
                if self.write(session, row):
                    self._settle(row, MarkResult.WRITTEN)
                    return True
                in_time = self._sort_out(session, row, 0)
                if msg_id in self.fates:
                    return True
                if not in_time:
                    return False
        except Rejected as error:
            self._settle(row, error)
            return True
        resists = Rejected(
            "mailbox-rejected", "the row is there, and stays without a mark when it is written"
        )
        self._settle(row, resists)
        return True

    def _give_up(self, rows: Iterable[int], held: Busy) -> None:
        if not any(isinstance(fate, MarkResult) for fate in self.fates.values()):
            raise Transient("mailbox", f"rows are locked: {held.detail}") from held
        refusal = Rejected("mailbox-rejected", f"not tried, other rows are locked: {held.detail}")
        self._settle([msg_id for msg_id in rows if msg_id in self.waiting], refusal)

    def _settle(self, rows: Iterable[int], fate: Fate) -> None:
        for msg_id in rows:
            self.fates[msg_id] = fate
            del self.waiting[msg_id]


def _is(stored: bytes, at: str) -> bool:
    """Whether a column, of whatever precision, holds this time."""
    seconds, _, fraction = stored.decode("ascii", "replace").partition(".")
    return seconds == at and not fraction.strip("0")
