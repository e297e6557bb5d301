"""From `msgx.mailbox.url` to the way out of the mailbox (D-32); beside `backends`, as it grew too long."""

from __future__ import annotations

from collections.abc import Callable

from msgx_app.settings import Settings
from msgx_core.errors import ConfigError
from msgx_core.ports import Clock, Inbox, Outbound


def open_outbound(settings: Settings, clock: Clock, *, create: bool = False) -> Outbound | None:
    """The outbound table; None where nothing is written into the mailbox (D-42).

    `create` makes that of an embedded mailbox where it is missing. Raises `ConfigError` for what is missing
    or wrong, `Transient` when the mailbox does not answer.
    """
    if not settings.mailbox.write_enabled:
        return None
    match settings.mailbox.url.scheme:
        case "sqlite":
            return _sqlite(settings, clock, create)
        case "mysql":
            return _mysql(settings, clock)
        case "memory":
            from msgx_adapters.outbound_memory import MemoryOutbound

            return MemoryOutbound(zone=settings.airport.timezone, clock=clock)
        case scheme:
            raise ConfigError((f"msgx.mailbox.url: this version sends no requests by {scheme}:",))


def _sqlite(settings: Settings, clock: Clock, create: bool) -> Outbound:
    from msgx_adapters.outbound_sqlite import Columns, SqliteOutbound

    url, names = settings.mailbox.url, settings.mailbox.column
    if url.path is None:
        raise ConfigError((f"{url} names no file",))
    return SqliteOutbound.open(
        url.path,
        zone=settings.airport.timezone,
        clock=clock,
        create=create,
        timeout_s=settings.timeouts.mailbox.total_seconds(),
        table=settings.mailbox.table.outbound,
        columns=Columns(
            id=names.outbound_id,
            text=names.outbound_text,
            inserted=names.outbound_inserted,
            sent=names.outbound_sent,
            routing_id=names.outbound_routing_id,
        ),
    )


def _mysql(settings: Settings, clock: Clock) -> Outbound:
    from msgx_adapters.outbound_mysql import Columns, MysqlOutbound

    names = settings.mailbox.column
    return MysqlOutbound.open(
        settings.mailbox.url.text,
        zone=settings.airport.timezone,
        clock=clock,
        timeout_s=settings.timeouts.mailbox.total_seconds(),
        table=settings.mailbox.table.outbound,
        columns=Columns(
            id=names.outbound_id,
            text=names.outbound_text,
            inserted=names.outbound_inserted,
            routing_id=names.outbound_routing_id,
        ),
    )


def filler(inbox: Inbox) -> Callable[[int, bytes], None] | None:
    """What gives a row of the mailbox its text later, for who plays its owner; None: this one cannot."""
    from msgx_adapters.inbox_sqlite import SqliteInbox

    return inbox.fill if isinstance(inbox, SqliteInbox) else None
