"""The store port for access tokens: who may use the HTTP interface, and for what."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from attrs import field, frozen

from msgx_core.ports.operations import Audit


class ApiRole(enum.Enum):
    """What a token is good for; none includes another, but that an operator also reads."""

    READER = "reader"
    SENDER = "sender"
    OPERATOR = "operator"


@frozen
class ApiToken:
    """A token by its name. `sha256` is the hex digest of the token, which itself is kept nowhere."""

    name: str
    role: ApiRole
    sha256: str = field(repr=False)
    created_at: datetime | None = None
    revoked_at: datetime | None = None


class ApiTokens(Protocol):
    """Access tokens. Carries no epoch; each change that took place has an audit row."""

    def tokens(self) -> Sequence[ApiToken]:
        """All, revoked ones too, oldest first."""
        ...

    def add_token(self, token: ApiToken, audit: Audit, now: datetime) -> bool:
        """Keep a new one; False, and nothing written, while one of that name or digest is there unrevoked.

        Audited as `create_token`.
        """
        ...

    def revoke_token(self, name: str, audit: Audit, now: datetime) -> bool:
        """End it for good; False when there is none of that name. Audited as `revoke_token`."""
        ...
