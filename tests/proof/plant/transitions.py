"""Looks into the store after each write, and names the transitions that its rows took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

from attrs import define, field

from tests.proof.report import Tally

Row = dict[str, Any]
Table = dict[Any, Row]

_ROWS: dict[str, tuple[str, Callable[[Row], Any]]] = {
    "messages": (
        "SELECT MSG_ID, STATE, BACKFILL_AT, BACKFILL_NEXT_AT, BACKFILL_ABANDONED_AT, BACKFILL_CLAIM_UNTIL"
        " FROM PROC_STATE",
        lambda row: row["MSG_ID"],
    ),
    "events": (
        "SELECT TARGET, EVENT_ID, FLID, STATE_VERSION, STATUS FROM MSG_EVENT",
        lambda row: (row["TARGET"], row["FLID"], row["STATE_VERSION"]),
    ),
    "requests": ("SELECT REQUEST_ID, STATE FROM REQ_TRACK", lambda row: row["REQUEST_ID"]),
    "flights": (
        "SELECT FLID, STATE FROM FLIGHT_SCHD"
        " UNION ALL SELECT F.FLID, 'ARCHIVED' FROM FLIGHT_VERSION_FLOOR F"
        " WHERE NOT EXISTS (SELECT 1 FROM FLIGHT_SCHD S WHERE S.FLID = F.FLID)",
        lambda row: row["FLID"],
    ),
}
_TOUCHED = {
    "enqueue": ("messages",),
    "fail": ("messages",),
    "close_unapplied": ("messages",),
    "finish": ("messages", "requests"),
    "apply": ("events", "requests", "flights"),
    "replay": ("messages",),
    "readmit": ("messages",),
    "claim_writebacks": ("messages",),
    "writebacks_done": ("messages",),
    "writeback_retry": ("messages",),
    "writeback_abandon": ("messages",),
    "release_claims": ("messages",),
    "resume_writebacks": ("messages",),
    "settle_events": ("events",),
    "requeue_events": ("events",),
    "discard_events": ("events",),
    "archive_flights": ("events", "flights"),
    "confirm_sent": ("requests",),
    "lose_send": ("requests",),
    "expire_requests": ("requests",),
    "create_request": ("requests",),
}
_MESSAGE = {"finish": "succeed", "fail": "fail", "replay": "replay", "readmit": "readmit"}
_WRITEBACK = {
    "finish": "finish",
    "close_unapplied": "finish",
    "claim_writebacks": "claim",
    "writebacks_done": "confirm",
    "writeback_retry": "retry",
    "release_claims": "release",
    "writeback_abandon": "abandon",
    "resume_writebacks": "resume",
    "replay": "replay",
    "readmit": "replay",
}
_HOLDING = ("writebacks_done", "writeback_retry", "release_claims", "writeback_abandon")
_REQUEST = {
    ("apply", "SENT"): "confirm-sent",
    ("apply", "FAILED"): "refuse",
    ("confirm_sent", "SENT"): "confirm-sent",
    ("finish", "DONE"): "answer",
    ("expire_requests", "EXPIRED"): "expire",
    ("create_request", "EXPIRED"): "replace",
    ("lose_send", "FAILED"): "lose",
}


class Books(Protocol):
    """Rows of the store through a connection of the test's own."""

    def rows(self, sql: str) -> list[Row]:
        """Rows by column name in upper case."""
        ...


@define
class Watch:
    """Keeps what the tables held last. `named` gives TYPE, STYP and flights of a message."""

    books: Books
    tally: Tally
    now: Callable[[], datetime]
    named: Callable[[int], tuple[str, str, set[int]]]
    _held: dict[str, Table] = field(factory=dict)

    @contextmanager
    def watching(self, method: str) -> Iterator[Callable[[Any, Sequence[Any]], None]]:
        """Around one write; what is yielded is told the result and the arguments."""
        tables = _TOUCHED.get(method, ())

        def seen(result: Any, args: Sequence[Any]) -> None:
            before = {name: self._held.get(name, {}) for name in tables}
            after = {name: self._read(name) for name in tables}
            self._held |= after
            for name in tables:
                getattr(self, f"_{name}")(method, result, args, before[name], after[name])

        yield seen

    def _read(self, name: str) -> Table:
        sql, key = _ROWS[name]
        return {key(row): row for row in self.books.rows(sql)}

    def _messages(self, method: str, result: Any, args: Sequence[Any], before: Table, after: Table) -> None:
        for msg_id in _targets(method, result, args):
            old, new = before[msg_id], after[msg_id]
            event = _MESSAGE.get(method) or {"SKIPPED": "skip", "DEAD": "die"}.get(new["STATE"], "")
            if method in ("close_unapplied", *_MESSAGE):
                self.tally.took(("message", old["STATE"], event, new["STATE"]))
            # What was claimed may have been let in again since: then nothing is written about it.
            ended = old["STATE"] in ("SUCCEEDED", "SKIPPED", "DEAD") or new["STATE"] != old["STATE"]
            if method in _WRITEBACK and (ended or method == "replay"):
                was, is_now = self._mark(old, method in _HOLDING), self._mark(new)
                self.tally.took(("write-back", was, _WRITEBACK[method], is_now))

    def _mark(self, row: Row, holding: bool = False) -> str:
        """The write-back of a message, from its columns (IMP §6).

        A claim that has run out is none, but for the process that still holds it and comes back late.
        """
        if row["BACKFILL_AT"] is not None:
            return "WRITTEN"
        if row["BACKFILL_ABANDONED_AT"] is not None:
            return "ABANDONED"
        claim = row["BACKFILL_CLAIM_UNTIL"]
        if claim is not None and (holding or _instant(claim) > self.now()):
            return "CLAIMED"
        return "NOT_OWED" if row["BACKFILL_NEXT_AT"] is None else "OWED"

    def _requests(self, method: str, result: Any, args: Sequence[Any], before: Table, after: Table) -> None:
        for request_id, old in before.items():
            new = after[request_id]
            if new["STATE"] != old["STATE"]:
                event = _REQUEST.get((method, new["STATE"]), f"{method} to {new['STATE']}")
                self.tally.took(("request", old["STATE"], event, new["STATE"]))

    def _events(self, method: str, result: Any, args: Sequence[Any], before: Table, after: Table) -> None:
        if method == "settle_events":
            for one in args[0]:
                key = (one.target.value, one.flid, one.version)
                if key in after and before[key]["STATUS"] == "PENDING":
                    event = {"SENT": "confirm", "DEAD": "exhaust"}.get(after[key]["STATUS"], "retry")
                    self.tally.took(("delivery", "PENDING", event, after[key]["STATUS"]))
        elif method in ("requeue_events", "discard_events"):
            for key, old in before.items():
                if after[key]["STATUS"] != old["STATUS"]:
                    event = method.removesuffix("_events")
                    self.tally.took(("delivery", old["STATUS"], event, after[key]["STATUS"]))
        else:
            new_of = {key[1]: row for key, row in after.items() if key[0] == "KAFKA:schd"}
            for (target, flid, _), old in before.items():
                new = new_of.get(flid)
                if target == "KAFKA:schd" and new is not None and new["EVENT_ID"] != old["EVENT_ID"]:
                    self.tally.took(("delivery", old["STATUS"], "supersede", new["STATUS"]))

    def _flights(self, method: str, result: Any, args: Sequence[Any], before: Table, after: Table) -> None:
        type_, styp, named = ("", "", set()) if method != "apply" else self.named(args[0].msg_id)
        event = {"SCHD": "complete", "FLOP": "change"}.get(type_, "")
        for flid in sorted(before.keys() | after.keys()):
            was, is_now = _life(before.get(flid)), _life(after.get(flid))
            if flid in named and styp != "FDEL":
                self.tally.took(("flight", was, event, is_now))
            elif was != is_now:
                left = "archive" if is_now == "ARCHIVED" else "delete"
                self.tally.took(("flight", was, left, is_now))


def _targets(method: str, result: Any, args: Sequence[Any]) -> Iterable[int]:
    """The messages that a write was about."""
    if method == "enqueue" or result is False:
        return ()
    if method == "claim_writebacks":
        return [row.msg_id for row in result]
    if method in ("replay", "resume_writebacks"):
        return [one.target for one in result if one.refused is None]
    if method == "readmit":
        return [result.target] if result.refused is None else []
    first = args[0]
    return [first] if isinstance(first, int) else first


def _life(row: Row | None) -> str:
    return "ABSENT" if row is None else str(row["STATE"])


def _instant(value: Any) -> datetime:
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
