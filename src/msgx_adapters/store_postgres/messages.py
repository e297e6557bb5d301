"""Intake, head, identity and fate of messages (IMP §4.1, §5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from msgx_adapters.store_postgres.session import Role, alerts_json
from msgx_adapters.store_sql.rows import proc_row
from msgx_core.model.alert import Alert
from msgx_core.model.proc import Binding, Holder, NewMessage, Outcome, ProcRow

_UNDESCRIBED = dict.fromkeys(("sndr", "type", "styp", "seqn", "dttm", "raw_digest"))


class MessageRole(Role):
    """`ports.store.Messages`."""

    def unknown(self, ids: Sequence[int]) -> Sequence[int]:
        """Those of `ids` without a row, in the given order."""
        return [row["MSG_ID"] for row in self.read_rows("unknown", ids=list(ids))] if ids else []

    def enqueue(self, rows: Sequence[NewMessage], now: datetime) -> int:
        """Insert where absent; how many were new."""
        ids = [row.msg_id for row in rows]
        received = [row.received_at for row in rows]
        return int(self.fenced("enqueue", ids=ids, received=received, now=now)[0]["N"])

    def head(self) -> ProcRow | None:
        """The unfinished message with the smallest id."""
        found = self.read_rows("head")
        return proc_row(found[0]) if found else None

    def heads(self, limit: int) -> Sequence[ProcRow]:
        """The head and the unfinished messages behind it."""
        return [proc_row(row) for row in self.read_rows("heads", limit=limit)]

    def bind(self, binding: Binding, now: datetime, *, as_head: bool = False) -> Holder | None:
        """Bind where empty; the holder when another message has the identity."""
        found = self.fenced("bind", **attrs.asdict(binding, recurse=False), as_head=as_head, now=now)
        return Holder(found[0]["MSG_ID"], found[0]["RAW_DIGEST"]) if found else None

    def identity_holder(self, identity_key: str) -> Holder | None:
        """The message that holds an identity."""
        found = self.read_rows("identity_holder", identity_key=identity_key)
        return Holder(found[0]["MSG_ID"], found[0].get("RAW_DIGEST")) if found else None

    def close_unapplied(
        self,
        msg_id: int,
        outcome: Outcome,
        alerts: Sequence[Alert],
        now: datetime,
        binding: Binding | None = None,
    ) -> bool:
        """`SKIPPED` or `DEAD` with write-back intent and alerts; False: nothing written."""
        described = _UNDESCRIBED if binding is None else attrs.asdict(binding, recurse=False)
        (row,) = self.fenced(
            "close_unapplied",
            **{name: described[name] for name in _UNDESCRIBED},
            msg_id=msg_id,
            state=outcome.state.value,
            code=outcome.code,
            reason=outcome.reason,
            detail=outcome.detail,
            alerts=alerts_json(alerts),
            now=now,
        )
        return bool(row["DONE"])

    def fail(
        self,
        msg_id: int,
        code: str,
        reason: str,
        detail: str | None,
        next_attempt_at: datetime,
        now: datetime,
    ) -> None:
        """Count one attempt: `FAILED`, still the head."""
        self.fenced(
            "fail",
            msg_id=msg_id,
            code=code,
            reason=reason,
            detail=detail,
            next_attempt_at=next_attempt_at,
            now=now,
        )

    def set_trying(self, msg_id: int, trying: bool) -> None:
        """Begin or end a suspect try (D-05)."""
        self.fenced("set_trying", msg_id=msg_id, trying=trying)

    def count_interrupted(self, now: datetime) -> ProcRow | None:
        """Where TRYING was left: clear it and count one attempt; the row after that."""
        found = self.fenced("count_interrupted", now=now)
        return proc_row(found[0]) if found else None
