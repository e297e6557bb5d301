"""Tokens for the HTTP interface; a change and its audit row are one statement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql import rows
from msgx_core.ports.operations import Audit
from msgx_core.ports.tokens import ApiToken


class TokenRole(Role):
    """`ports.tokens.ApiTokens`."""

    def tokens(self) -> Sequence[ApiToken]:
        """All, oldest first."""
        return [rows.api_token(row) for row in self.read_rows("tokens")]

    def add_token(self, token: ApiToken, audit: Audit, now: datetime) -> bool:
        """Keep a new one, unless its name or digest is taken."""
        found = self.write(
            "add_token",
            name=token.name,
            role=token.role.value,
            digest=token.sha256,
            actor=audit.actor,
            why=audit.reason,
            now=now,
        )
        return bool(found)

    def revoke_token(self, name: str, audit: Audit, now: datetime) -> bool:
        """End it for good."""
        return bool(self.write("revoke_token", name=name, actor=audit.actor, why=audit.reason, now=now))
