"""Settings of the way in and of the core: airport, wire, pipeline, evidence, mailbox."""

from __future__ import annotations

from datetime import time, timedelta
from zoneinfo import ZoneInfo

from attrs import frozen

from . import kinds
from .spec import Follow, group, setting
from .urls import Url, url

mailbox_url = url("sqlite:///data/mailbox.db", "mysql://USER:PASSWORD@HOST:3306/DATABASE", "memory:")
archive_url = url("file:data/archive", "s3://BUCKET/PREFIX", "gs://BUCKET", "az://CONTAINER", "memory:")


@frozen(kw_only=True)
class AirportSettings:
    """The airport that is served."""

    code: str = setting(kinds.airport_code, None, "IATA code; part of no identity")
    timezone: ZoneInfo = setting(kinds.zone, "Asia/Shanghai", "time zone of the airport")
    day_cutover: time = setting(
        kinds.local_time, "00:00", "local time at which the operation day changes (D-09)"
    )


@frozen(kw_only=True)
class SisSettings:
    """The wire format."""

    timezone: ZoneInfo = setting(
        kinds.zone,
        "Asia/Shanghai",
        "zone of times on the wire",
        follow=Follow("msgx.airport.timezone", "the airport's"),
    )
    max_message_bytes: int = setting(
        kinds.whole(1, unit=" of bytes"), "10485760", "larger messages are DEAD(MALFORMED) too-large"
    )


@frozen(kw_only=True)
class IdentitySettings:
    """What makes two messages the same."""

    include_day_boundary: bool = setting(
        kinds.flag, "false", "identity holds the day of DTTM; stored at first start, then fixed (D-23)"
    )


@frozen(kw_only=True)
class PipelineSettings:
    """Intake, attempts, write-back and retention."""

    poll_interval: timedelta = setting(kinds.duration, "200ms", "time between mailbox scans")
    poll_interval_idle: timedelta = setting(
        kinds.duration, "2s", "the same while nothing is new: the pause grows up to this"
    )
    claim_batch: int = setting(kinds.whole(1), "200", "rows per page of a scan")
    max_attempts: int = setting(kinds.whole(1), "8", "attempts of a message before DEAD(EXHAUSTED)")
    backoff: tuple[timedelta, ...] = setting(
        kinds.durations(0), "1s 5s 30s 2m 10m 30m 1h", "pauses between attempts: one step fewer than attempts"
    )
    backfill_batch: int = setting(kinds.whole(1), "200", "rows per write-back sweep")
    backfill_interval: timedelta = setting(kinds.duration, "2s", "time between write-back sweeps")
    backfill_backoff: tuple[timedelta, ...] = setting(
        kinds.durations(1), "5s 30s 2m 10m", "pauses between tries of one write-back; the last step repeats"
    )
    backfill_max_attempts: int = setting(
        kinds.whole(1), "20", "write-back tries before an alert; never stops the retry"
    )
    overdue_backfill: timedelta = setting(
        kinds.duration, "7d", "R: past this age a write-back that fails once more is abandoned (D-38)"
    )
    inbox_retention: timedelta = setting(
        kinds.duration, "31d", "R_keep: age at which the mailbox's owner cleans up; not below R"
    )
    event_retention: timedelta = setting(kinds.duration, "7d", "age at which sent outbox rows are removed")
    proc_retention: timedelta = setting(
        kinds.duration, "90d", "age at which finished, written-back PROC_STATE rows are removed"
    )
    snap_log_retention: timedelta = setting(
        kinds.duration, "90d", "age at which SCHD_SNAP_LOG rows are removed"
    )
    request_retention: timedelta = setting(
        kinds.duration, "90d", "age at which closed REQ_TRACK and ended OPS_JOB rows are removed"
    )
    ledger_retention: timedelta | None = setting(
        kinds.optional(kinds.duration), "off", "age at which rosters are removed; 7d when wanted (FST §8.3)"
    )


def _archive_for(store: Url) -> object:
    return "file:data/archive" if store.scheme == "sqlite" else "off"


@frozen(kw_only=True)
class ArchiveSettings:
    """The evidence layer."""

    url: Url | None = setting(
        kinds.optional(archive_url),
        "off",
        "where the raw text of each message is kept as evidence (D-36)",
        follow=Follow("msgx.store.url", "file:data/archive with an SQLite store, else off", _archive_for),
    )
    retention: timedelta = setting(kinds.duration, "90d", "age at which archived messages are removed")


@frozen(kw_only=True)
class RefSettings:
    """Reference data."""

    allow_empty: bool = setting(
        kinds.flag, "false", "a full list without records empties the category (D-40)"
    )


@frozen(kw_only=True)
class MailboxTables:
    """Names of the owner's tables."""

    inbound: str = setting(kinds.sql_name, "CMINMSGS", "table of messages to us")
    outbound: str = setting(kinds.sql_name, "COUTMSGS", "table of messages from us")


@frozen(kw_only=True)
class MailboxColumns:
    """Names of the owner's columns."""

    inbound_id: str = setting(kinds.sql_name, "CMINMSGS_ID", "inbound: the id, our MSG_ID")
    inbound_text: str = setting(kinds.sql_name, "CMINMSGS_CLOB_MSG", "inbound: the XML text")
    inbound_received: str = setting(kinds.sql_name, "CMINMSGS_DATE_RECEIVED", "inbound: received at")
    inbound_processed: str = setting(
        kinds.sql_name, "CMINMSGS_DATE_PROCESSED", "inbound: processed at, the one column we set"
    )
    inbound_status: str = setting(kinds.sql_name, "CMINMSGS_STATUS", "inbound: the owner's status")
    outbound_id: str = setting(kinds.sql_name, "COUTMSGS_ID", "outbound: the id")
    outbound_text: str = setting(kinds.sql_name, "COUTMSGS_CLOB_MSG", "outbound: the XML text")
    outbound_inserted: str = setting(kinds.sql_name, "COUTMSGS_DATE_INSERTED", "outbound: inserted at")
    outbound_sent: str = setting(kinds.sql_name, "COUTMSGS_DATE_SENT", "outbound: sent at")
    outbound_routing_id: str = setting(kinds.sql_name, "ROUTINGID", "outbound: where it is routed")


@frozen(kw_only=True)
class MailboxSettings:
    """The owner's mailbox."""

    url: Url = setting(mailbox_url, "sqlite:///data/mailbox.db", "the mailbox database")
    write_enabled: bool = setting(
        kinds.flag, "true", "false on a shadow instance: nothing is written into the mailbox (D-42)"
    )
    table: MailboxTables = group(MailboxTables)
    column: MailboxColumns = group(MailboxColumns)
