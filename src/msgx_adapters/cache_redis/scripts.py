"""Lua in the server: called by digest, sent along when the server does not have it."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha1
from importlib.resources import files
from typing import Any

from attrs import field, frozen
from redis.exceptions import NoScriptError

from msgx_core.errors import Transient

Ask = Callable[..., Any]


@frozen
class Script:
    """One `.lua` file. Keys are made inside of it, so it has none to declare (no Redis Cluster)."""

    text: str
    digest: str = field(init=False)

    @digest.default
    def _of_text(self) -> str:
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    @classmethod
    def load(cls, name: str) -> Script:
        """The file of that name."""
        return cls(files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8"))

    def run(self, ask: Ask, *args: str | bytes | int) -> Any:
        """One round trip; one more after a restart or `SCRIPT FLUSH`, when EVAL teaches it again."""
        try:
            return ask("EVALSHA", self.digest, 0, *args)
        except Transient as error:
            if not isinstance(error.__cause__, NoScriptError):
                raise
        return ask("EVAL", self.text, 0, *args)
