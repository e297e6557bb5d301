"""Recovery after a restored backup or a lost topic: versions above what was seen, events once more (D-31)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_postgres.values import Texts
from msgx_core.model.change import FlightPut
from msgx_core.ports.operations import Audit
from msgx_core.ports.recovery import VERSIONS_RAISED, Raised


class RecoveryRole(Role):
    """`ports.recovery.Recovery`."""

    def raise_versions(self, by: int, audit: Audit, now: datetime) -> Raised:
        """Add `by` to versions, floors and event counters."""
        who = {"action": VERSIONS_RAISED, "actor": audit.actor, "why": audit.reason, "now": now}
        (row,) = self.fenced("raise_versions", by=by, **who)
        return Raised(row["FLIGHTS"], row["FLOORS"], row["APPLY_NO"])

    def republish(self, puts: Sequence[FlightPut], now: datetime) -> None:
        """Write the notice and the document of each put as new events."""
        notices = [put for put in puts if put.notice is not None]
        documents = [put for put in puts if put.document is not None]
        self.fenced(
            "republish",
            now=now,
            notice_flids=[put.state.flid for put in notices],
            notice_versions=[put.state.version for put in notices],
            notice_msgs=[put.state.last_msg_id for put in notices],
            notices=Texts([put.notice or "" for put in notices]),
            document_flids=[put.state.flid for put in documents],
            document_versions=[put.state.version for put in documents],
            document_msgs=[put.state.last_msg_id for put in documents],
            documents=Texts([put.document or "" for put in documents]),
        )

    def record(self, action: str, target: int, detail: str | None, audit: Audit, now: datetime) -> None:
        """An audit row."""
        who = {"actor": audit.actor, "why": audit.reason, "now": now}
        self.fenced("record", action=action, target=target, detail=detail, **who)
