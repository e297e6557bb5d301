"""From a URL to an adapter: the only module that knows which adapters there are.

Drivers are imported when a URL asks for them, so that an installation needs only its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Literal, Protocol, TypeVar, cast

from msgx_app.settings import Settings, Url
from msgx_core.errors import ConfigError
from msgx_core.ports import Bus, Cache, Clock, Codec, Inbox, Store, Telemetry
from msgx_core.ports.metrics import Reading

T = TypeVar("T")


class Metrics(Telemetry, Protocol):
    """Telemetry that keeps numbers, and can be scraped."""

    def exposition(self, readings: Iterable[Reading] = ()) -> tuple[bytes, str]:
        """All series as text with the gauges of this scrape, and its content type."""
        ...


class Traces(Telemetry, Protocol):
    """Telemetry that has something to send at the end."""

    def close(self) -> None:
        """Send what is left."""
        ...


Make = Callable[[Settings, Url, Clock, bool], T]


def _inbox_sqlite(settings: Settings, url: Url, clock: Clock, create: bool) -> Inbox:
    from msgx_adapters.inbox_sqlite import Columns, SqliteInbox

    names = settings.mailbox.column
    return SqliteInbox.open(
        _path(url),
        zone=settings.airport.timezone,
        clock=clock,
        create=create,
        timeout_s=settings.timeouts.mailbox.total_seconds(),
        table=settings.mailbox.table.inbound,
        columns=Columns(
            id=names.inbound_id,
            text=names.inbound_text,
            received=names.inbound_received,
            processed=names.inbound_processed,
            status=names.inbound_status,
        ),
    )


def _inbox_mysql(settings: Settings, url: Url, clock: Clock, create: bool) -> Inbox:
    from msgx_adapters.inbox_mysql import Columns, MysqlInbox

    names = settings.mailbox.column
    return MysqlInbox.open(
        url.text,
        zone=settings.airport.timezone,
        clock=clock,
        timeout_s=settings.timeouts.mailbox.total_seconds(),
        table=settings.mailbox.table.inbound,
        columns=Columns(
            id=names.inbound_id,
            text=names.inbound_text,
            received=names.inbound_received,
            processed=names.inbound_processed,
        ),
    )


def _inbox_memory(settings: Settings, url: Url, clock: Clock, create: bool) -> Inbox:
    from msgx_adapters.inbox_memory import MemoryInbox

    return MemoryInbox(zone=settings.airport.timezone, clock=clock)


def _store_sqlite(settings: Settings, url: Url, clock: Clock, create: bool) -> Store:
    from msgx_adapters.store_sqlite import SqliteStore

    timeout_s = settings.timeouts.store.total_seconds()
    return SqliteStore.open(_path(url), timeout_s=timeout_s, create=create)


def _store_postgres(settings: Settings, url: Url, clock: Clock, create: bool) -> Store:
    from msgx_adapters.store_postgres import PostgresStore

    return PostgresStore.open(
        url.text,
        timeout_s=settings.timeouts.store.total_seconds(),
        statement_timeout_s=settings.timeouts.store_statement.total_seconds(),
        prepared=settings.store.prepared.value,
        create=create,
    )


def _store_memory(settings: Settings, url: Url, clock: Clock, create: bool) -> Store:
    from msgx_adapters.store_sqlite import SqliteStore

    return SqliteStore.open(None)


def _cache_memory(settings: Settings, url: Url, clock: Clock, create: bool) -> Cache:
    from msgx_adapters.cache_memory import MemoryCache

    return MemoryCache()


def _cache_redis(settings: Settings, url: Url, clock: Clock, create: bool) -> Cache:
    from msgx_adapters.cache_redis import RedisCache

    return RedisCache.open(url.text, timeout_s=settings.timeouts.cache.total_seconds())


def _bus_kafka(settings: Settings, url: Url, clock: Clock, create: bool) -> Bus:
    from msgx_adapters.bus_kafka import KafkaBus

    return KafkaBus.open(
        url.text,
        max_bytes=settings.kafka.max_message_bytes,
        timeout_s=settings.timeouts.bus.total_seconds(),
        topics=(settings.kafka.topic.msg, settings.kafka.topic.schd),
    )


def _bus_file(settings: Settings, url: Url, clock: Clock, create: bool) -> Bus:
    from msgx_adapters.bus_file import FileBus

    timeout_s = settings.timeouts.bus.total_seconds()
    return FileBus(_path(url), settings.kafka.max_message_bytes, timeout_s=timeout_s)


def _bus_memory(settings: Settings, url: Url, clock: Clock, create: bool) -> Bus:
    from msgx_adapters.bus_memory import MemoryBus

    return MemoryBus(max_bytes=settings.kafka.max_message_bytes)


INBOXES: Mapping[str, Make[Inbox]] = {
    "sqlite": _inbox_sqlite,
    "mysql": _inbox_mysql,
    "memory": _inbox_memory,
}
STORES: Mapping[str, Make[Store]] = {
    "sqlite": _store_sqlite,
    "postgresql": _store_postgres,
    "memory": _store_memory,
}
CACHES: Mapping[str, Make[Cache]] = {
    "memory": _cache_memory,
    "redis": _cache_redis,
    "rediss": _cache_redis,
    "unix": _cache_redis,
}
BUSES: Mapping[str, Make[Bus]] = {"file": _bus_file, "kafka": _bus_kafka, "memory": _bus_memory}


def open_inbox(settings: Settings, clock: Clock, *, create: bool = False) -> Inbox:
    """The mailbox of `msgx.mailbox.url`; `create` makes an embedded one where it is missing."""
    return _made("msgx.mailbox.url", INBOXES, settings, settings.mailbox.url, clock, create)


def open_store(settings: Settings, clock: Clock, *, create: bool = False) -> Store:
    """The store of `msgx.store.url`; `create` makes or upgrades its schema."""
    return _made("msgx.store.url", STORES, settings, settings.store.url, clock, create)


class Upgradable(Protocol):
    """A store of ours, made with `create`."""

    @property
    def found_revision(self) -> str | None:
        """What was there before; None: nothing."""
        ...

    def schema_revision(self) -> str | None:
        """What is there now."""
        ...


def migrate_store(settings: Settings, clock: Clock) -> tuple[str | None, str | None]:
    """Make or upgrade the schema of the store; its revision before (None: there was none) and now."""
    with closing(open_store(settings, clock, create=True)) as store:
        made = cast(Upgradable, store)
        return made.found_revision, made.schema_revision()


def open_cache(settings: Settings, clock: Clock) -> Cache:
    """The snapshot cache of `msgx.cache.url`."""
    return _made("msgx.cache.url", CACHES, settings, settings.cache.url, clock, False)


def open_bus(settings: Settings, clock: Clock) -> Bus:
    """The event bus of `msgx.bus.url`."""
    return _made("msgx.bus.url", BUSES, settings, settings.bus.url, clock, False)


def open_codec(settings: Settings) -> Codec:
    """The codec with the size limit of `msgx.sis.max-message-bytes`."""
    from msgx_adapters.codec_lxml import LxmlCodec

    return LxmlCodec(max_bytes=settings.sis.max_message_bytes)


def system_clock() -> Clock:
    """The clock of this machine."""
    from msgx_adapters.clock_system import SystemClock

    return SystemClock()


def open_telemetry(clock: Clock, renderer: Literal["json", "console"]) -> Telemetry:
    """Structured log lines on standard error, counts in memory."""
    from msgx_adapters.telemetry_structlog import StructlogTelemetry

    return StructlogTelemetry(clock=clock, renderer=renderer)


def open_metrics(clock: Clock) -> Metrics:
    """Telemetry that can be scraped. Raises `ModuleNotFoundError` where its package is not installed."""
    from msgx_adapters.telemetry_prometheus import PrometheusTelemetry

    return PrometheusTelemetry(clock)


def open_traces(settings: Settings, instance: str) -> Traces | None:
    """Telemetry that sends spans to `msgx.otel.endpoint`; None: nobody wants them."""
    endpoint = settings.otel.endpoint
    if endpoint is None:
        return None
    try:
        from msgx_adapters.telemetry_otel import OtelTelemetry
    except ModuleNotFoundError as error:
        raise ConfigError(
            (f"msgx.otel.endpoint needs the package {error.name}: pip install 'msgx[otel]'",)
        ) from error
    return OtelTelemetry.open(endpoint, instance=instance)


def migration_script(settings: Settings, since: str | None = None) -> tuple[str, str | None]:
    """What a DBA would run to make or upgrade the store's schema, and a remark on what it is for."""
    url = settings.store.url
    if url.scheme == "postgresql":
        from msgx_adapters.store_postgres import migration_script as postgres_script

        timeout_s = settings.timeouts.store.total_seconds()
        return postgres_script(url.text, timeout_s=timeout_s, since=since)
    from msgx_adapters.store_sqlite import migration_script as sqlite_script

    return sqlite_script(url.path, since=since)


def store_grants(settings: Settings) -> str | None:
    """What the schema's owner runs for the roles of the store; None where there are no roles."""
    if settings.store.url.scheme != "postgresql":
        return None
    from msgx_adapters.store_postgres import Target, grants_sql

    return grants_sql(Target.of(settings.store.url.text).schema)


def mailbox_grants(settings: Settings) -> str | None:
    """What the mailbox's owner runs for msgx; None where there are no rights to grant."""
    if settings.mailbox.url.scheme != "mysql":
        return None
    from msgx_adapters.inbox_mysql import grants_sql

    table, column = settings.mailbox.table, settings.mailbox.column
    return grants_sql(
        settings.mailbox.url.text,
        inbound=table.inbound,
        outbound=table.outbound,
        inbound_id=column.inbound_id,
        processed=column.inbound_processed,
    )


def _made(
    key: str, table: Mapping[str, Make[T]], settings: Settings, url: Url, clock: Clock, create: bool
) -> T:
    make = table.get(url.scheme)
    if make is None:
        have = ", ".join(f"{scheme}:" for scheme in sorted(table))
        raise ConfigError((f"{key} = {url}: this version has no adapter for {url.scheme}:; it has {have}",))
    return make(settings, url, clock, create)


def _path(url: Url) -> Path:
    if url.path is None:
        raise ConfigError((f"{url} names no file",))
    return url.path
