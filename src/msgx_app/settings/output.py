"""Settings of the ways out: events, schedule topic, whitelist, Kafka, requests, history."""

from __future__ import annotations

from datetime import time, timedelta
from enum import StrEnum

from attrs import frozen

from . import kinds, styps
from .spec import Follow, group, setting
from .styps import Whitelist
from .urls import Url, url

history_url = url("file:data/history", "elasticsearch://USER:PASSWORD@HOST:9200/INDEX")
window = kinds.optional(kinds.duration)


class DnldCoverage(StrEnum):
    """What a schedule download vouches for (D-11)."""

    WINDOW = "window"
    SINGLE_DAY = "single-day"
    OBSERVED = "observed"


class MissingFlight(StrEnum):
    """What a `FLOP` for an unknown flight does (D-08)."""

    CREATE = "create"
    SKIP = "skip"


class TimeFormat(StrEnum):
    """How times are written in events (D-30)."""

    SIS = "sis"
    ISO8601 = "iso8601"


@frozen(kw_only=True)
class EventSettings:
    """The relay of the `msg` topic."""

    batch: int = setting(kinds.whole(1), "500", "msg events per relay batch")
    backoff: tuple[timedelta, ...] = setting(
        kinds.durations(0),
        "1s 5s 30s 2m 10m 30m 1h",
        "pauses after a refusal, per event: one step fewer than attempts (D-28)",
    )
    max_attempts: int = setting(kinds.whole(1), "8", "refusals before an event is dead")


@frozen(kw_only=True)
class SchdSettings:
    """The `schd` topic and schedule packages."""

    flush_interval: timedelta = setting(kinds.duration, "1s", "time between flushes of the schd topic")
    flush_limit: int = setting(kinds.whole(1), "200", "flights per flush of the schd topic")
    records_per_message: int = setting(
        kinds.whole(1),
        "200",
        "flights per schd message; 1 = one keyed record per flight (D-29)",
        follow=Follow("msgx.schd.flush-limit", "msgx.schd.flush-limit"),
    )
    dnld_coverage: DnldCoverage = setting(
        kinds.choice(DnldCoverage), "window", "what a schedule download may delete by absence (D-11)"
    )


@frozen(kw_only=True)
class FlopSettings:
    """Single-flight updates."""

    whitelist: Whitelist = setting(styps.whitelist, "baseline", "FLOP sub-types that are applied (D-18)")
    missing_flight: MissingFlight = setting(
        kinds.choice(MissingFlight), "create", "what a FLOP for an unknown flight does (D-08)"
    )


@frozen(kw_only=True)
class RouteSettings:
    """Routes of flights."""

    max_points: int = setting(kinds.whole(1, 7), "4", "points kept of ROUT and of ERUT each (D-19)")


@frozen(kw_only=True)
class KafkaTopics:
    """Names of the topics."""

    msg: str = setting(kinds.topic, "KAFKA_MSG", "topic of one event per flight change")
    schd: str = setting(kinds.topic, "KAFKA_SCHD", "topic of full flight states")


@frozen(kw_only=True)
class KafkaSettings:
    """What the bus takes."""

    topic: KafkaTopics = group(KafkaTopics)
    max_message_bytes: int = setting(
        kinds.whole(1, unit=" of bytes"), "1000000", "largest message that the bus takes"
    )


@frozen(kw_only=True)
class EventsSettings:
    """The content of events."""

    suppress_unchanged: bool = setting(
        kinds.flag, "false", "no version and no event for a flight that came out the same (D-15)"
    )
    time_format: TimeFormat = setting(
        kinds.choice(TimeFormat), "sis", "times as on the wire, or ISO 8601 with offset (D-30)"
    )


@frozen(kw_only=True)
class RequestsSettings:
    """Requests to the AODB."""

    daily_at: time | None = setting(
        kinds.optional(kinds.local_time), "off", "local time of the daily RQFD for the next day (D-32)"
    )
    timeout: timedelta = setting(kinds.duration, "30m", "a SENT request without an answer is EXPIRED then")
    late_window: timedelta = setting(
        kinds.duration, "24h", "an expired request makes answers ambiguous for this long (D-32)"
    )


@frozen(kw_only=True)
class RoutingIds:
    """Routing of outbound messages."""

    schedule: str = setting(kinds.routing_id, "RQFD", "ROUTINGID of schedule requests")
    reference: str = setting(kinds.routing_id, "RQRD", "ROUTINGID of reference data requests")


@frozen(kw_only=True)
class OutboundSettings:
    """What we sign our messages with."""

    sender: str = setting(kinds.sender, "RMS", "SNDR of our messages")
    routing_id: RoutingIds = group(RoutingIds)


@frozen(kw_only=True)
class HistoryWindows:
    """When a flight counts as ended (US-14 AC2); diverted flights never do."""

    sodt: timedelta | None = setting(window, "48h", "ended this long after SODT")
    cncl: timedelta | None = setting(window, "48h", "ended this long after its cancellation")
    naat: timedelta | None = setting(window, "48h", "ended this long after NAAT")
    neat: timedelta | None = setting(window, "48h", "ended this long after NEAT")
    deleted: timedelta | None = setting(window, "48h", "ended this long after its deletion")


@frozen(kw_only=True)
class HistorySettings:
    """Where ended flights go (D-33)."""

    url: Url | None = setting(
        kinds.optional(history_url, "none"), "none", "the history store; none: nothing is deleted (D-33)"
    )
    window: HistoryWindows = group(HistoryWindows)
    retention: timedelta | None = setting(
        kinds.optional(kinds.duration), "off", "age at which flights leave the history store"
    )
    null_day_retention: timedelta | None = setting(
        kinds.optional(kinds.duration), "off", "age at which flights without an operation day are removed"
    )
