"""Whether the columns of a message, or of an event, fit together: a step writes them together (IMP §3, §6).

Columns that cannot be read are left out of each rule: they are told by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgx_core.ports.inspection import StoredRow, Unreadable

Contradiction = tuple[str, Any, Any]
"""Column, what is stored, what it should be (in words where there is more than one such value)."""

LIVE = frozenset({"PENDING", "FAILED"})
FINAL = frozenset({"SUCCEEDED", "SKIPPED", "DEAD"})
_DEAD_CODES = frozenset({"MALFORMED", "PROTOCOL", "EXHAUSTED"})
_FAILED_CODES = frozenset({"INFRA", "CODEC_ERROR"})
_OWED = ("BACKFILL_NEXT_AT", "BACKFILL_CLAIM_UNTIL")
_MARKED = ("BACKFILL_ABANDONED_AT", "BACKFILL_ABANDONED_REASON", *_OWED)


def of_message(row: StoredRow, *, replayed: bool) -> Iterator[Contradiction]:
    """What of a `PROC_STATE` row does not fit; `replayed`: people have sent it back to `PENDING` (H-25)."""
    for name in ("ATTEMPTS", "BACKFILL_ATTEMPTS"):
        if isinstance(row[name], int) and row[name] < 0:
            yield name, row[name], "0 or more"
    if isinstance(row["APPLY_NO"], int) and row["APPLY_NO"] < 1:
        yield "APPLY_NO", row["APPLY_NO"], "1 or more"
    applied = was_applied(row)
    if applied:
        yield from _given(row, "APPLY_NO", "a number")
        yield from _given(row, "APPLIED_AT", "an instant")
    if not applied:
        yield from _none(row, "OUTCOME_REASON", "OUTCOME_DETAIL", "TOUCHED")
    if row["STATE"] in FINAL:
        yield from _ended(row, replayed=replayed, applied=applied)
    elif row["STATE"] in LIVE:
        yield from _waiting(row, replayed=replayed, applied=applied)


def was_applied(row: StoredRow) -> bool:
    """Whether a message had effects by any of what ① writes with them (D-01)."""
    marks = (row["APPLY_NO"], row["APPLIED_AT"])
    return row["STATE"] == "SUCCEEDED" or any(mark is not None for mark in marks)


def _ended(row: StoredRow, *, replayed: bool, applied: bool) -> Iterator[Contradiction]:
    state, code = row["STATE"], row["ERROR_CODE"]
    yield from _given(row, "FINISHED_AT", "an instant")
    yield from _none(row, "NEXT_ATTEMPT_AT")
    if row["TRYING"] is True:
        yield "TRYING", True, False
    if state == "DEAD":
        if code not in _DEAD_CODES and not isinstance(code, Unreadable):
            yield "ERROR_CODE", code, "MALFORMED, PROTOCOL or EXHAUSTED"
    else:
        yield from _none(row, "ERROR_CODE")
    if state != "SUCCEEDED":
        yield from _given(row, "REASON", "a reason")
    if applied and (state == "SKIPPED" or (state == "DEAD" and code in _DEAD_CODES - {"EXHAUSTED"})):
        yield "STATE", state, "SUCCEEDED"
    yield from _mark(row, replayed=replayed)


def _mark(row: StoredRow, *, replayed: bool) -> Iterator[Contradiction]:
    """The write-back of a message that has ended (IMP §6)."""
    written, given_up, at = row["BACKFILL_AT"], row["BACKFILL_ABANDONED_AT"], row["UPDATED_AT"]
    reason = row["BACKFILL_ABANDONED_REASON"]
    if (given_up is None) != (reason is None):
        yield "BACKFILL_ABANDONED_REASON", reason, None if given_up is None else "a reason"
    if written is not None or given_up is not None:
        yield from _none(row, *_OWED)
    else:
        yield from _given(row, "BACKFILL_NEXT_AT", "an instant")
    if isinstance(at, Unreadable):
        return
    if written is not None:
        legal = {written, row["FINISHED_AT"]} if replayed else {written}
        yield from _one_of("UPDATED_AT", at, legal)
    elif given_up is not None:
        yield from _one_of("UPDATED_AT", at, {given_up})
    elif row["BACKFILL_ATTEMPTS"] == 0 and row["BACKFILL_NEXT_AT"] not in (None, at):
        # Both are written by what owes the mark: the end of the message, or an operator's `resume`.
        name, other = ("BACKFILL_NEXT_AT", at) if at == row["FINISHED_AT"] else ("UPDATED_AT", None)
        yield from _one_of(name, row[name], {other or row["BACKFILL_NEXT_AT"]})


def _waiting(row: StoredRow, *, replayed: bool, applied: bool) -> Iterator[Contradiction]:
    state = row["STATE"]
    if row["FINISHED_AT"] is not None:
        yield "STATE", state, "one that has ended: it has FINISHED_AT"
    elif row["BACKFILL_AT"] is not None and not replayed:
        yield "STATE", state, "one that has ended: it has BACKFILL_AT, and nobody has replayed it"
    else:
        yield from _none(row, *_MARKED)
        if isinstance(row["BACKFILL_ATTEMPTS"], int) and row["BACKFILL_ATTEMPTS"] > 0:
            yield "BACKFILL_ATTEMPTS", row["BACKFILL_ATTEMPTS"], 0
    if state == "PENDING":
        yield from _none(row, "ERROR_CODE", "NEXT_ATTEMPT_AT")
        if not applied:
            yield from _none(row, "REASON", "DETAIL")
        return
    yield from _given(row, "NEXT_ATTEMPT_AT", "an instant")
    if row["ATTEMPTS"] == 0:
        yield "ATTEMPTS", 0, "1 or more"
    # ① clears the code of the try before it; ③ has not come yet.
    legal = _FAILED_CODES | ({None} if applied else frozenset())
    if row["ERROR_CODE"] not in legal and not isinstance(row["ERROR_CODE"], Unreadable):
        yield "ERROR_CODE", row["ERROR_CODE"], "INFRA or CODEC_ERROR"
    if not applied:
        yield from _given(row, "REASON", "a reason")


def of_event(row: StoredRow) -> Iterator[Contradiction]:
    """What of a `MSG_EVENT` row does not fit (IMP §8, D-28, D-29)."""
    status, attempts = row["STATUS"], row["ATTEMPTS"]
    if isinstance(attempts, int) and attempts < 0:
        yield "ATTEMPTS", attempts, "0 or more"
    if status == "SENT":
        yield from _given(row, "SENT_AT", "an instant")
        yield from _none(row, "NEXT_ATTEMPT_AT", "LAST_CODE")
        if isinstance(attempts, int) and attempts > 0:
            yield "ATTEMPTS", attempts, 0
        if row["SENT_AT"] is not None:
            yield from _one_of("UPDATED_AT", row["UPDATED_AT"], {row["SENT_AT"]})
        return
    if isinstance(status, Unreadable):
        return
    yield from _none(row, "SENT_AT")
    if status == "PENDING" and attempts == 0:
        yield from _none(row, "NEXT_ATTEMPT_AT")
        # One that was dead and is due once more keeps the code of then.
        if row["LAST_CODE"] is None:
            yield from _one_of("UPDATED_AT", row["UPDATED_AT"], {row["CREATED_AT"]})
        elif row["UPDATED_AT"] == row["CREATED_AT"]:
            yield from _none(row, "LAST_CODE")
        return
    if status == "PENDING":
        yield from _given(row, "NEXT_ATTEMPT_AT", "an instant")
    else:
        yield from _none(row, "NEXT_ATTEMPT_AT")
        if attempts == 0:
            yield "ATTEMPTS", 0, "1 or more"
    yield from _given(row, "LAST_CODE", "a code")


def _none(row: StoredRow, *names: str) -> Iterator[Contradiction]:
    for name in names:
        value = row.get(name)
        if value is not None and not isinstance(value, Unreadable):
            yield name, value, None


def _given(row: StoredRow, name: str, what: str) -> Iterator[Contradiction]:
    if row[name] is None:
        yield name, None, what


def _one_of(name: str, value: Any, legal: set[Any]) -> Iterator[Contradiction]:
    """Not told where one of them cannot be read."""
    unread = any(isinstance(each, Unreadable) for each in (value, *legal))
    if not unread and value not in legal:
        yield name, value, next(iter(legal))
