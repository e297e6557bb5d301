"""Tokens for the HTTP interface."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.ports.operations import Audit
from msgx_core.ports.tokens import ApiToken


class TokenRole(Role):
    """`ports.tokens.ApiTokens`."""

    def tokens(self) -> Sequence[ApiToken]:
        """All, oldest first."""
        with self.reader.read():
            found = self.reader.rows(SQL["tokens"])
        return [rows.api_token(row) for row in found]

    def add_token(self, token: ApiToken, audit: Audit, now: datetime) -> bool:
        """Keep a new one, unless its name or digest is taken."""
        values = {"name": token.name, "role": token.role.value, "digest": token.sha256, "now": stamp(now)}
        with self.db.write():
            row = self.db.row(SQL["insert_token"], values)
            if row is None:
                return False
            self._audited("create_token", row["TOKEN_ID"], f"{token.name} {token.role.value}", audit, now)
        return True

    def revoke_token(self, name: str, audit: Audit, now: datetime) -> bool:
        """End it for good."""
        with self.db.write():
            row = self.db.row(SQL["revoke_token"], {"name": name, "now": stamp(now)})
            if row is None:
                return False
            self._audited("revoke_token", row["TOKEN_ID"], f"{name} {row['ROLE']}", audit, now)
        return True

    def _audited(self, action: str, token_id: int, detail: str, audit: Audit, now: datetime) -> None:
        values: dict[str, Any] = {"action": action, "target": token_id, "detail": detail, "now": stamp(now)}
        self.db.run(SQL["insert_audit"], {**values, "actor": audit.actor, "why": audit.reason})
