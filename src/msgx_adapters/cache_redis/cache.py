"""The snapshot cache in Redis (INV-10, D-31)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from redis import Connection, SSLConnection, UnixDomainSocketConnection
from redis.backoff import NoBackoff
from redis.retry import Retry

from msgx_core.errors import Rejected
from msgx_core.ports.cache import CacheEntry, CachePut

from .options import account_of, options_of
from .rebuilding import Rebuild
from .scripts import Script
from .wire import Wire, Wires

_CONNECTIONS: dict[str, Any] = {
    "redis": Connection,
    "rediss": SSLConnection,
    "unix": UnixDomainSocketConnection,
}


class RedisCache:
    """Implements `Cache`. Thread-safe.

    Keys under `prefix`: `flight:{FLID}` the JSON document, `day:{YYYY-MM-DD}` the set of its flights,
    `gone:{FLID}` the version of a deleted flight for a day, `store` the store id; and beside the document
    `version:{FLID}`, "VERSION DAY", by which the server guards and finds the day that a flight leaves.

    One server or one with replicas, not Redis Cluster. Its eviction policy is `noeviction`: what evicts
    keys evicts the guard. The account needs
    `ACL SETUSER msgx on >… resetkeys ~msgx:* resetchannels -@all +evalsha +eval +get +mget +set +del +unlink
    +sadd +srem +smembers +sscan +scan +type +ping +select`.
    """

    volatile = False
    chunk = 200
    """Flights per call: a schedule of thousands never holds up the server's other clients for long."""

    def __init__(self, wires: Wires, prefix: str = "msgx:") -> None:
        self._wires = wires
        self._prefix = prefix
        self._write = Script.load("write")

    @classmethod
    def open(cls, url: str, *, timeout_s: float = 2.0, prefix: str = "msgx:") -> RedisCache:
        """A cache at `redis://USER:PASSWORD@HOST:PORT/DB`, `rediss://…` or `unix://…`; connects when used.

        Options behind `?`: `db`, `client_name`, and with `rediss` redis-py's `ssl_…`. Each wait for the
        server is at most `timeout_s`; nothing is retried in here. Raises `ConfigError`.
        """
        scheme, options = options_of(url)
        kind = _CONNECTIONS[scheme]
        options |= {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s}
        # No CLIENT SETINFO: it is one more right, and Redis before 7.2 does not know it.
        options |= {"protocol": 2, "retry": Retry(NoBackoff(), 0), "driver_info": None}
        if scheme != "unix":
            options["socket_keepalive"] = True

        def make() -> Wire:
            wire: Wire = kind(**options)
            return wire

        make()
        return cls(Wires(make, account_of(options)), prefix)

    def write(self, entries: Sequence[CacheEntry]) -> None:
        """Write all, except where a newer version is held: one round trip for each `chunk`.

        A chunk is written at once or, when an entry of it is refused, at most up to that entry.
        """
        for start in range(0, len(entries), self.chunk):
            args: list[str | int] = [self._prefix, "guarded"]
            for entry in entries[start : start + self.chunk]:
                document = entry.document if isinstance(entry, CachePut) else ""
                args += (entry.flid, entry.version, entry.day.isoformat() if entry.day else "", document)
            self._write.run(self._wires.ask, *args)

    def get(self, flid: int) -> str | None:
        """The document of a live flight."""
        document: bytes | None = self._wires.ask("GET", f"{self._prefix}flight:{flid}")
        return None if document is None else document.decode()

    def day(self, day: date) -> frozenset[int]:
        """The live flights of an operation day."""
        members: list[bytes] = self._wires.ask("SMEMBERS", f"{self._prefix}day:{day.isoformat()}")
        try:
            return frozenset(map(int, members))
        except ValueError as error:
            raise Rejected("cache-rejected", f"{self._prefix}day:{day} has a foreign member") from error

    def store_id(self) -> str | None:
        """Which store this cache was filled from."""
        found: bytes | None = self._wires.ask("GET", f"{self._prefix}store")
        return None if found is None else found.decode()

    def rebuild(self, store_id: str, pages: Iterable[Sequence[CachePut]]) -> int:
        """Become exactly the flights of `pages`; reads go on meanwhile."""
        with self._wires.one() as ask:
            return Rebuild(ask, self._prefix, self._write, self.chunk).run(store_id, pages)

    def ping(self) -> None:
        """Return when the server answers, else raise `Transient`."""
        self._wires.ask("PING")

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._wires.close()
