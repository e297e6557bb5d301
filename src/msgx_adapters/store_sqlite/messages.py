"""Intake, head, identity and fate of messages (IMP §4.1, §5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sql.rows import proc_row
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert
from msgx_core.model.proc import Binding, Holder, NewMessage, Outcome, ProcRow


class MessageRole(Role):
    """`ports.store.Messages`."""

    def unknown(self, ids: Sequence[int]) -> Sequence[int]:
        """Those of `ids` without a row, in the given order."""
        if not ids:
            return []
        with self.db.read():
            found = self.db.rows(SQL["unknown"], {"ids": dump_list(list(ids))})
        return [row["MSG_ID"] for row in found]

    def enqueue(self, rows: Sequence[NewMessage], now: datetime) -> int:
        """Insert where absent; how many were new."""
        at = stamp(now)
        with self.fenced() as epoch:
            return self.db.run_many(
                SQL["enqueue"],
                (
                    {
                        "msg_id": row.msg_id,
                        "received_at": stamp(row.received_at),
                        "now": at,
                        "epoch": epoch,
                    }
                    for row in rows
                ),
            )

    def head(self) -> ProcRow | None:
        """The unfinished message with the smallest id."""
        with self.db.read():
            row = self.db.row(SQL["head"])
        return None if row is None else proc_row(row)

    def heads(self, limit: int) -> Sequence[ProcRow]:
        """The head and the unfinished messages behind it."""
        with self.db.read():
            return [proc_row(row) for row in self.db.rows(SQL["heads"], {"limit": limit})]

    def bind(self, binding: Binding, now: datetime, *, as_head: bool = False) -> Holder | None:
        """Bind where empty; the holder when another message has the identity."""
        values = attrs.asdict(binding, recurse=False)
        with self.fenced() as epoch:
            if as_head:
                head = self.db.row(SQL["head"])
                if head is None or head["MSG_ID"] != binding.msg_id:
                    raise Conflict(f"message {binding.msg_id} is not the head")
            found = {row["MSG_ID"]: row for row in self.db.rows(SQL["identity_holders"], values)}
            own = found.pop(binding.msg_id, None)
            if own is not None and own["IDENTITY_KEY"] is not None:
                return None
            for row in found.values():
                return Holder(row["MSG_ID"], row["RAW_DIGEST"])
            self.db.run(SQL["bind"], {**values, "now": stamp(now), "epoch": epoch})
        return None

    def identity_holder(self, identity_key: str) -> Holder | None:
        """The message that holds an identity."""
        with self.reader.read():
            row = self.reader.row(SQL["identity_holder"], {"identity_key": identity_key})
        return None if row is None else Holder(row["MSG_ID"], row["RAW_DIGEST"])

    def close_unapplied(
        self,
        msg_id: int,
        outcome: Outcome,
        alerts: Sequence[Alert],
        now: datetime,
        binding: Binding | None = None,
    ) -> bool:
        """`SKIPPED` or `DEAD` with write-back intent and alerts; False: nothing written."""
        with self.fenced() as epoch:
            values = {
                "msg_id": msg_id,
                "state": outcome.state.value,
                "code": outcome.code,
                "reason": outcome.reason,
                "detail": outcome.detail,
                "now": stamp(now),
                "epoch": epoch,
            }
            if not self.db.run(SQL["close_unapplied"], values):
                return False
            if binding is not None:
                self.db.run(SQL["describe"], {**attrs.asdict(binding, recurse=False), "msg_id": msg_id})
            self.db.run(SQL["unbind_request"], values)
            self.insert_alerts(alerts, now)
        return True

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
        with self.fenced() as epoch:
            self.db.run(
                SQL["fail"],
                {
                    "msg_id": msg_id,
                    "code": code,
                    "reason": reason,
                    "detail": detail,
                    "next_attempt_at": stamp(next_attempt_at),
                    "now": stamp(now),
                    "epoch": epoch,
                },
            )

    def set_trying(self, msg_id: int, trying: bool) -> None:
        """Begin or end a suspect try (D-05)."""
        with self.fenced() as epoch:
            self.db.run(SQL["set_trying"], {"msg_id": msg_id, "trying": int(trying), "epoch": epoch})

    def count_interrupted(self, now: datetime) -> ProcRow | None:
        """Where TRYING was left: clear it and count one attempt; the row after that."""
        with self.fenced() as epoch:
            found = self.db.rows(SQL["count_interrupted"], {"now": stamp(now), "epoch": epoch})
        return min((proc_row(row) for row in found), key=lambda row: row.msg_id, default=None)
