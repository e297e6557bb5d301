"""What people may change: each a conditional change with an audit row (D-34)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attrs import evolve

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sqlite.connection import Row
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.errors import Conflict
from msgx_core.model.events import Target
from msgx_core.model.identity import Identity
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit, OperatorResult

_DUPLICATE = "duplicate-of:"


class OperatorRole(Role):
    """`ports.operations.OperatorActions`. An audit row is written for each change that took place."""

    def replay(
        self, msg_ids: Sequence[int], whitelist: Sequence[tuple[str, str | None]], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """`FAILED`/`DEAD → PENDING` where the whitelist lets it in (R-120, H-25)."""
        with self.db.write():
            return [self._replay(msg_id, whitelist, audit, now) for msg_id in msg_ids]

    def readmit(self, msg_id: int, audit: Audit, now: datetime) -> OperatorResult:
        """`SKIPPED(duplicate-of:…) → PENDING` under its identity with `#<MSG_ID>` behind (D-24)."""
        with self.db.write():
            row = self.db.row(SQL["replayable"], {"msg_id": msg_id})
            refused = _why_not_readmitted(row, now)
            if refused is not None or row is None:
                return OperatorResult(msg_id, refused)
            wanted = self._wanted_identity(row).readmitted_as(msg_id).key
            self._back_to_pending(msg_id, wanted, now)
            self._audit("readmit", msg_id, audit, now, detail=row["REASON"])
            return OperatorResult(msg_id)

    def resume_writebacks(
        self, msg_ids: Sequence[int] | None, audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """Abandoned rows (None: all) are due once more (D-38)."""
        with self.db.write():
            if msg_ids is None:
                msg_ids = [row["MSG_ID"] for row in self.db.rows(SQL["abandoned_ids"])]
            return self._each("resume_writeback", msg_ids, audit, now, refused="not abandoned")

    def requeue_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → PENDING`, attempts 0."""
        with self.db.write():
            return self._each("requeue_event", event_ids, audit, now, refused="no dead event", target=target)

    def discard_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → DISCARDED`."""
        with self.db.write():
            return self._each("discard_event", event_ids, audit, now, refused="no dead event", target=target)

    def acknowledge(self, alert_ids: Sequence[int], audit: Audit, now: datetime) -> Sequence[OperatorResult]:
        """Close alerts."""
        with self.db.write():
            return self._each("acknowledge", alert_ids, audit, now, refused="no open alert")

    def create_request(self, request: Request, audit: Audit, now: datetime) -> Request:
        """A new `PENDING` request in place of the open one of its slot (D-32)."""
        with self.db.write():
            before = self._open(request.slot)
            if before is not None and before.resp_msg_id is not None:
                raise Conflict(
                    f"request {before.request_id} is being answered by message {before.resp_msg_id}"
                )
            if before is not None:
                values = {"request_id": before.request_id, "now": stamp(now)}
                self.db.run(SQL["replace_request"], values)
            request_id = self.db.last_id(
                SQL["insert_request"],
                {
                    "slot": request.slot.value,
                    "seqn": request.seqn,
                    "rtype": request.rtype,
                    "first_day": day_text(request.first_day),
                    "last_day": day_text(request.last_day),
                    "created_at": stamp(request.created_at),
                    "now": stamp(now),
                },
            )
            detail = None if before is None else f"replaces request {before.request_id}"
            self._audit("create_request", request_id, audit, now, detail=detail)
        return evolve(request, request_id=request_id, state=RequestState.PENDING)

    def open_request(self, slot: RequestSlot) -> Request | None:
        """The open request of a slot."""
        with self.db.read():
            return self._open(slot)

    def _open(self, slot: RequestSlot) -> Request | None:
        row = self.db.row(SQL["open_request"], {"slot": slot.value})
        return None if row is None else rows.request(row)

    def _replay(
        self, msg_id: int, whitelist: Sequence[tuple[str, str | None]], audit: Audit, now: datetime
    ) -> OperatorResult:
        row = self.db.row(SQL["replayable"], {"msg_id": msg_id})
        refused = _why_not_replayed(row, whitelist, now)
        if refused is not None or row is None:
            return OperatorResult(msg_id, refused)
        self._back_to_pending(msg_id, None, now)
        detail = " ".join(str(row[name]) for name in ("STATE", "ERROR_CODE", "REASON") if row[name])
        self._audit("replay", msg_id, audit, now, detail=detail)
        return OperatorResult(msg_id)

    def _back_to_pending(self, msg_id: int, identity_key: str | None, now: datetime) -> None:
        values = {"msg_id": msg_id, "identity_key": identity_key, "now": stamp(now)}
        self.db.run(SQL["back_to_pending"], values)

    def _wanted_identity(self, row: Row) -> Identity:
        """The identity that a duplicate wanted: its holder's, or its own parts when that is gone."""
        holder = row["REASON"].removeprefix(_DUPLICATE)
        key = self.db.value(SQL["identity_of"], {"msg_id": holder})
        parts = (row[name] or "" for name in ("SNDR", "TYPE", "STYP", "SEQN"))
        return Identity(key if key is not None else "|".join(parts))

    def _each(
        self,
        statement: str,
        targets: Sequence[int],
        audit: Audit,
        now: datetime,
        *,
        refused: str,
        target: Target | None = None,
    ) -> list[OperatorResult]:
        """Run a conditional statement for each target and audit those that it changed."""
        results = []
        topic = None if target is None else target.value
        for each in targets:
            changed = self.db.run(SQL[statement], {"target": each, "topic": topic, "now": stamp(now)})
            if changed:
                self._audit(statement, each, audit, now, detail=topic)
            results.append(OperatorResult(each, None if changed else refused))
        return results

    def _audit(self, action: str, target: int, audit: Audit, now: datetime, *, detail: str | None) -> None:
        self.db.run(
            SQL["insert_audit"],
            {
                "action": action,
                "target": target,
                "actor": audit.actor,
                "why": audit.reason,
                "detail": detail,
                "now": stamp(now),
            },
        )


def _why_not_replayed(
    row: Row | None, whitelist: Sequence[tuple[str, str | None]], now: datetime
) -> str | None:
    if row is None:
        return "unknown message"
    if row["STATE"] not in {"FAILED", "DEAD"}:
        return f"state is {row['STATE']}"
    let_in = any(code == row["ERROR_CODE"] and reason in {None, row["REASON"]} for code, reason in whitelist)
    if whitelist and not let_in:
        return f"{row['ERROR_CODE']} ({row['REASON']}) is not on the replay whitelist"
    return _why_not_yet(row, now)


def _why_not_readmitted(row: Row | None, now: datetime) -> str | None:
    if row is None:
        return "unknown message"
    if row["STATE"] != "SKIPPED" or not (row["REASON"] or "").startswith(_DUPLICATE):
        return "it was not skipped as a duplicate"
    return _why_not_yet(row, now)


def _why_not_yet(row: Row, now: datetime) -> str | None:
    claim = row["BACKFILL_CLAIM_UNTIL"]
    return "its write-back is under way, try again" if claim is not None and claim > now else None
