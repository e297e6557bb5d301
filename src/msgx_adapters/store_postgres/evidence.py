"""What verification reads, and messages whose text an operator puts back from the archive (D-36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role, json_of
from msgx_adapters.store_sql import rows
from msgx_core.ports.operations import Audit, OperatorResult, Row


class EvidenceRole(Role):
    """The rest of `ports.operations.Views` and `OperatorActions`."""

    def applied(self, after: int, limit: int = 500) -> Sequence[Row]:
        """`PROC_STATE` rows of applied messages by `APPLY_NO`."""
        return [rows.for_people(row) for row in self.read_rows("applied", after=after, limit=limit)]

    def floors(self, flid: int | None = None) -> Mapping[int, tuple[int, datetime]]:
        """Version floors by FLID, and when each was last set."""
        found = self.read_rows("floors", flid=flid)
        return {row["FLID"]: (row["STATE_VERSION"], row["UPDATED_AT"]) for row in found}

    def pins(self) -> Mapping[str, str]:
        """What `pin` has kept, by name."""
        return {row["NAME"].removeprefix("pin."): row["VALUE"] for row in self.read_rows("pins")}

    def replay_from_archive(
        self, grounds: Mapping[int, str], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """`DEAD(MALFORMED, raw-missing) → PENDING`, with where its text is."""
        wanted = json_of([{"n": n, "id": i, "grounds": grounds[i]} for n, i in enumerate(grounds)])
        found = self.write("replay_from_archive", wanted=wanted, actor=audit.actor, why=audit.reason, now=now)
        return [OperatorResult(row["TARGET"], row["REFUSED"]) for row in found]
