"""Who a browser belongs to: a cookie, sessions of those who signed in, and the marks of our own forms."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from typing import Final

from attrs import frozen

from msgx_app.http.access import Principal
from msgx_core.ports import Clock

COOKIE: Final = "msgx_console"
MAX_SESSIONS: Final = 500
"""Then the oldest ends."""

SESSION_S: Final = 12 * 3600.0
"""A night shift."""

_ID_BYTES: Final = 32


@frozen
class Visit:
    """One request of a browser. `principal` None: it has to sign in. `fresh`: its cookie is new."""

    key: str
    fresh: bool
    principal: Principal | None
    signed_in: bool


@frozen
class _Session:
    digest: str
    ends_at_s: float


class Sessions:
    """By the digest of the cookie, the digest of the token that was shown. In memory, of one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, _Session] = OrderedDict()
        self._secret = secrets.token_bytes(_ID_BYTES)

    def begin(self, token_digest: str) -> str:
        """A new session; its cookie, which nobody had before."""
        key = new_key()
        self._kept[_digest(key)] = _Session(token_digest, self._clock.monotonic_s() + SESSION_S)
        while len(self._kept) > MAX_SESSIONS:
            self._kept.popitem(last=False)
        return key

    def token_of(self, key: str) -> str | None:
        """The digest of the token behind a cookie, as long as the session lasts."""
        found = self._kept.get(_digest(key))
        if found is None:
            return None
        if self._clock.monotonic_s() >= found.ends_at_s:
            self.end(key)
            return None
        return found.digest

    def end(self, key: str) -> None:
        """No session any more. Idempotent."""
        self._kept.pop(_digest(key), None)

    def mark(self, key: str) -> str:
        """What a form of this browser carries, so that no other page can send it."""
        return hmac.new(self._secret, key.encode(), hashlib.sha256).hexdigest()

    def is_marked(self, key: str, mark: str) -> bool:
        """Whether a form came from a page of this browser."""
        return hmac.compare_digest(self.mark(key).encode(), mark.encode())


def new_key() -> str:
    """A cookie that cannot be guessed."""
    return secrets.token_urlsafe(_ID_BYTES)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
