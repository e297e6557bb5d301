"""Tokens for the HTTP interface: made, listed; the token itself is seen once, by whoever asks for it."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Any, Final

from msgx_app.answers.parts import WithStore
from msgx_app.refusals import BadValue, Missing, Negative
from msgx_core.ports import ApiRole, ApiToken
from msgx_core.ports.operations import Audit

PREFIX: Final = "msgx_"
_NAME = re.compile(r"[\w.-]{1,64}")


def digest_of(token: str) -> str:
    """What is kept of a token. It has 256 bits of chance, so that a plain digest is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def make_token(at: WithStore, name: str, role: ApiRole, who: Audit) -> str:
    """A new token, kept by its digest. Raises `BadValue` for an illegal name, `Negative` for a taken one."""
    if _NAME.fullmatch(name) is None:
        raise BadValue(f"{name!r}: 1 to 64 letters, digits, dots, _ or -")
    if any(each.name == name for each in at.settings.http.tokens):
        raise Negative(f"msgx.http.tokens has a token of that name: {name}")
    token = PREFIX + secrets.token_urlsafe(32)
    if not at.store.add_token(ApiToken(name, role, digest_of(token)), who, at.clock.now()):
        raise Negative(f"there is a token {name}: revoke it first, or take another name")
    return token


def end_token(at: WithStore, name: str, who: Audit) -> None:
    """Revoke a token of the store. Raises `Missing`."""
    if at.store.revoke_token(name, who, at.clock.now()):
        return
    if any(each.name == name for each in at.settings.http.tokens):
        raise Negative(f"{name} is a token of msgx.http.tokens: take it out there")
    raise Missing(f"there is no token {name}, or it was revoked before")


def any_token(at: WithStore) -> bool:
    """Whether somebody has a token that is good."""
    return bool(at.settings.http.tokens) or any(each.revoked_at is None for each in at.store.tokens())


def token_rows(at: WithStore) -> list[dict[str, Any]]:
    """Who has a token, for what, and where it is kept."""
    given = [{"NAME": t.name, "ROLE": t.role, "KEPT_IN": "msgx.http.tokens"} for t in at.settings.http.tokens]
    kept = [
        {
            "NAME": t.name,
            "ROLE": t.role.value,
            "KEPT_IN": "store",
            "CREATED_AT": t.created_at,
            "REVOKED_AT": t.revoked_at,
        }
        for t in at.store.tokens()
    ]
    return [*given, *kept]
