"""Makes the cache exactly what the store has (D-31)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from attrs import field, frozen

from msgx_core.errors import Transient
from msgx_core.ports.cache import CachePut

from .scripts import Ask, Script

_SCAN = 1_000
_GLOB = str.maketrans({c: f"\\{c}" for c in r"*?[]\^-"})


@frozen
class Rebuild:
    """One rebuild on one connection: a restart of the server breaks it, an emptied one has lost its token.

    Every write asks for the token: one that was stopped changes nothing when another has begun meanwhile.
    """

    ask: Ask
    prefix: str
    write: Script
    chunk: int
    days: dict[int, date | None] = field(factory=dict, init=False)
    _token: str = field(factory=lambda: secrets.token_hex(8), init=False)

    def run(self, store_id: str, pages: Iterable[Sequence[CachePut]]) -> int:
        """Write all pages, remove everything else, name the store; how many flights.

        Readers find each flight, old or new, at any time.
        """
        self.ask("DEL", f"{self.prefix}store")
        self.ask("SET", f"{self.prefix}rebuild", self._token)
        for page in pages:
            for start in range(0, len(page), self.chunk):
                self._put(page[start : start + self.chunk])
        self._tidy()
        self._do(Script.load("finish"), store_id)
        return len(self.days)

    def _put(self, entries: Sequence[CachePut]) -> None:
        args: list[str | int] = []
        for entry in entries:
            args += (entry.flid, entry.version, entry.day.isoformat() if entry.day else "", entry.document)
            self.days[entry.flid] = entry.day
        self._do(self.write, *args)

    def _do(self, script: Script, *args: str | bytes | int) -> None:
        if not script.run(self.ask, self.prefix, self._token, *args):
            raise Transient("cache", "it was emptied, or filled by someone else, while it was filled")

    def _tidy(self) -> None:
        """Remove keys that are not of these flights, and from each day the flights that are not of it."""
        remove = Script.load("remove")
        days = {day.isoformat() for day in self.days.values() if day is not None}
        for keys in self._scan("SCAN", "MATCH", self.prefix.translate(_GLOB) + "*"):
            names = [key.decode(errors="surrogateescape").removeprefix(self.prefix) for key in keys]
            strange = [key for key, name in zip(keys, names, strict=True) if not self._known(name, days)]
            if strange:
                self._do(remove, "", *strange)
        for day in days:
            key = f"{self.prefix}day:{day}"
            for members in self._scan("SSCAN", key):
                strange = [member for member in members if not self._of_day(member, day)]
                if strange:
                    self._do(remove, key, *strange)

    def _scan(self, command: str, *args: str) -> Iterator[list[bytes]]:
        cursor = b"0"
        while True:
            where = (args[0], cursor) if command == "SSCAN" else (cursor, *args)
            cursor, found = self.ask(command, *where, "COUNT", _SCAN)
            yield found
            if cursor == b"0":
                return

    def _known(self, name: str, days: set[str]) -> bool:
        kind, _, rest = name.partition(":")
        if kind == "day":
            return rest in days
        if kind in ("flight", "version"):
            return _flid(rest) in self.days
        return name in ("store", "rebuild")

    def _of_day(self, member: bytes, day: str) -> bool:
        held = self.days.get(_flid(member.decode(errors="replace")))
        return held is not None and held.isoformat() == day


def _flid(text: str) -> int:
    """The number that is written as we write it, else one that no flight has."""
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else -1
