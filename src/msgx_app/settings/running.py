"""Settings of running: lease, store, cache, bus, HTTP and the bounds of every outside call."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from attrs import frozen

from . import kinds, network
from .network import Bind, Token
from .spec import setting
from .urls import Url, url

store_url = url("sqlite:///data/store.db", "postgresql://USER:PASSWORD@HOST:5432/DATABASE", "memory:")
cache_url = url("memory:", "redis://:PASSWORD@HOST:6379/0", "rediss://:PASSWORD@HOST:6379/0", "unix:///PATH")
bus_url = url("file:data/bus", "kafka://HOST:9092,HOST:9092", "memory:")


class Prepared(StrEnum):
    """Whether the store uses prepared statements (D-34)."""

    AUTO = "auto"
    OFF = "off"


@frozen(kw_only=True)
class LeaseSettings:
    """The lease of the one active instance (D-34)."""

    expiry: timedelta = setting(kinds.duration, "3s", "a lease not renewed for this long may be taken over")
    renew: timedelta = setting(kinds.duration, "1s", "time between renewals; below the expiry")


@frozen(kw_only=True)
class StoreSettings:
    """The store."""

    url: Url = setting(store_url, "sqlite:///data/store.db", "the store of state, outbox and alerts")
    prepared: Prepared = setting(
        kinds.choice(Prepared), "auto", "prepared statements; off behind an old transaction pooler (D-34)"
    )


@frozen(kw_only=True)
class CacheSettings:
    """The cache of flight states."""

    url: Url = setting(cache_url, "memory:", "the snapshot cache that consumers read (D-31)")


@frozen(kw_only=True)
class BusSettings:
    """The bus."""

    url: Url = setting(bus_url, "file:data/bus", "where events go; file: writes JSON lines")


@frozen(kw_only=True)
class HttpSettings:
    """The HTTP interface and the console."""

    bind: Bind | None = setting(
        network.bind, "127.0.0.1:8080", "address of the HTTP interface; off: there is none"
    )
    console: bool = setting(kinds.flag, "true", "the web console at /console, for browsers")
    tokens: tuple[Token, ...] = setting(
        network.tokens,
        "none",
        "who may use it, beside the tokens of the store; with none at all only on loopback",
        secret=True,
    )
    rate: int = setting(
        kinds.whole(1, network.MAX_RATE), "50", "requests a second that one client may make for long"
    )
    body_timeout: timedelta = setting(kinds.duration, "30s", "longest time for a request to arrive")


@frozen(kw_only=True)
class OtelSettings:
    """Traces."""

    endpoint: str | None = setting(
        kinds.optional(kinds.matching(r"https?://\S+", "an address such as http://127.0.0.1:4318/v1/traces")),
        "off",
        "OTLP collector that gets a span for each stage of a message",
    )


@frozen(kw_only=True)
class TimeoutSettings:
    """Every outside call is bounded."""

    mailbox: timedelta = setting(kinds.duration, "5s", "longest wait for the mailbox")
    store: timedelta = setting(kinds.duration, "5s", "longest wait for a connection to the store")
    store_statement: timedelta = setting(kinds.duration, "60s", "longest statement of the store")
    cache: timedelta = setting(kinds.duration, "2s", "longest wait for the cache")
    bus: timedelta = setting(kinds.duration, "10s", "longest wait for the bus")
    history: timedelta = setting(kinds.duration, "10s", "longest wait for the history store")
