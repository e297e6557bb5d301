"""Values of the HTTP settings: the address to listen on and the hashed access tokens."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import NamedTuple

from .kinds import Kind, as_list, as_text, optional, refuse

ROLES = ("reader", "sender", "operator")
MAX_RATE = 100_000


class Bind(NamedTuple):
    """An address to listen on; port 0 lets the system choose one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True when nobody outside this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Token(NamedTuple):
    """Who may do what: `sha256` is the hex digest of the bearer token, which itself is stored nowhere."""

    name: str
    role: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}:{self.role}:***"

    def __repr__(self) -> str:
        return f"Token({str(self)!r})"


def _bind(value: object) -> Bind:
    if isinstance(value, Bind):
        return value
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})", as_text(value), re.ASCII)
    if not match or int(match[3]) > 65535:
        raise refuse()
    if match[1]:
        return Bind(str(ip_address(match[1])), int(match[3]))
    if re.fullmatch(r"[\d.]+", match[2], re.ASCII):
        return Bind(str(ip_address(match[2])), int(match[3]))
    return Bind(match[2].lower(), int(match[3]))


def _token(value: object) -> Token:
    if isinstance(value, Token):
        return value
    match = re.fullmatch(r"([\w.-]+):([a-z]+):([0-9A-Fa-f]{64})", as_text(value))
    if not match:
        raise refuse("no plain tokens here; the digest is what `printf %s TOKEN | sha256sum` prints")
    if match[2] not in ROLES:
        raise refuse("the role is one of " + ", ".join(ROLES))
    return Token(match[1], match[2], match[3].lower())


def _tokens(value: object) -> tuple[Token, ...]:
    found = tuple(_token(item) for item in as_list(value))
    if len({token.name for token in found}) < len(found):
        raise refuse("a name is given twice")
    return found


bind: Kind[Bind | None] = optional(Kind("an address such as 127.0.0.1:8080 or [::1]:8080", _bind))
tokens: Kind[tuple[Token, ...]] = Kind("none or a list of NAME:ROLE:SHA256-OF-THE-TOKEN", _tokens)
