"""What verification reads, and messages whose text an operator puts back from the archive (D-36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.ports.operations import Audit, OperatorResult, Row

NOT_MISSING = "it is not DEAD raw-missing, or its write-back is under way"


class EvidenceRole(Role):
    """The rest of `ports.operations.Views` and `OperatorActions`."""

    def applied(self, after: int, limit: int = 500) -> Sequence[Row]:
        """`PROC_STATE` rows of applied messages by `APPLY_NO`."""
        with self.reader.read():
            found = self.reader.rows(SQL["applied"], {"after": after, "limit": limit})
        return [rows.for_people(row) for row in found]

    def floors(self, flid: int | None = None) -> Mapping[int, tuple[int, datetime]]:
        """Version floors by FLID, and when each was last set."""
        with self.reader.read():
            found = self.reader.rows(SQL["floors"], {"flid": flid})
        return {row["FLID"]: (row["STATE_VERSION"], row["UPDATED_AT"]) for row in found}

    def pins(self) -> Mapping[str, str]:
        """What `pin` has kept, by name."""
        with self.reader.read():
            found = self.reader.rows(SQL["pins"])
        return {row["NAME"].removeprefix("pin."): row["VALUE"] for row in found}

    def replay_from_archive(
        self, grounds: Mapping[int, str], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """`DEAD(MALFORMED, raw-missing) → PENDING`, with where its text is."""
        results = []
        with self.db.write():
            for msg_id, text in grounds.items():
                values = {"msg_id": msg_id, "grounds": text, "now": stamp(now), "identity_key": None}
                done = self.db.run(SQL["put_back_raw"], values)
                if done:
                    self.db.run(SQL["back_to_pending"], values)
                    self.db.run(
                        SQL["insert_audit"],
                        {
                            "action": "replay",
                            "target": msg_id,
                            "actor": audit.actor,
                            "why": audit.reason,
                            "detail": f"from archive {text}",
                            "now": stamp(now),
                        },
                    )
                results.append(OperatorResult(msg_id, None if done else NOT_MISSING))
        return results
