"""The parts of one running msgx, made from settings and passed on; nothing is global."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal

from attrs import frozen

from msgx_app import archives, backends, histories, outbounds
from msgx_app.settings import Settings
from msgx_core.model.schedule import DnldCoverage as CoreCoverage
from msgx_core.pipeline.pipeline import Extras, Pipeline, PipelineConfig
from msgx_core.pipeline.requests import RequestPolicy
from msgx_core.pipeline.retention import RetentionPolicy
from msgx_core.ports import Archive, Bus, Cache, Clock, Codec, Inbox, Store, Telemetry
from msgx_core.rules.ended import EndedWindows
from msgx_core.rules.policy import MissingFlight as CoreMissing
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy import TimeFormat as CoreTimeFormat
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy


@frozen
class Container:
    """All parts, open. `lock` is the one of D-01, shared by everything that changes flights."""

    settings: Settings
    clock: Clock
    telemetry: Telemetry
    inbox: Inbox
    store: Store
    cache: Cache
    bus: Bus
    codec: Codec
    lock: threading.RLock
    pipeline: Pipeline
    archive: Archive | None = None


def policy_of(settings: Settings) -> Policy:
    """The choices of the rules, from the settings."""
    return Policy(
        airport_zone=settings.airport.timezone,
        sis_zone=settings.sis.timezone,
        day_cutover=settings.airport.day_cutover,
        include_day_boundary=settings.identity.include_day_boundary,
        flop_whitelist=settings.flop.whitelist.styps,
        missing_flight=CoreMissing(settings.flop.missing_flight.value),
        route_max_points=settings.route.max_points,
        dnld_coverage=CoreCoverage(settings.schd.dnld_coverage.value),
        suppress_unchanged=settings.events.suppress_unchanged,
        time_format=CoreTimeFormat(settings.events.time_format.value),
        ref_allow_empty=settings.ref.allow_empty,
        late_window=settings.requests.late_window,
    )


def pipeline_config_of(settings: Settings) -> PipelineConfig:
    """Numbers and names of the pipeline, from the settings."""
    flow = settings.pipeline
    return PipelineConfig(
        policy=policy_of(settings),
        retry=RetryPolicy(flow.max_attempts, flow.backoff),
        event_retry=RetryPolicy(settings.event.max_attempts, settings.event.backoff),
        writeback=WritebackPolicy(
            overdue=flow.overdue_backfill,
            inbox_retention=flow.inbox_retention,
            backoff=flow.backfill_backoff,
            alert_attempts=flow.backfill_max_attempts,
            batch=flow.backfill_batch,
        ),
        claim_batch=flow.claim_batch,
        event_batch=settings.event.batch,
        schd_flush_limit=settings.schd.flush_limit,
        schd_records_per_message=settings.schd.records_per_message,
        topic_msg=settings.kafka.topic.msg,
        topic_schd=settings.kafka.topic.schd,
        mailbox_write_enabled=settings.mailbox.write_enabled,
        requests=RequestPolicy(
            sender=settings.outbound.sender,
            routing_schedule=settings.outbound.routing_id.schedule,
            routing_reference=settings.outbound.routing_id.reference,
            timeout=settings.requests.timeout,
            daily_at=settings.requests.daily_at,
        ),
        ended=ended_windows_of(settings),
        retention=RetentionPolicy(
            events=flow.event_retention,
            processed=flow.proc_retention,
            snapshot_log=flow.snap_log_retention,
            requests=flow.request_retention,
            ledger=flow.ledger_retention,
            history=settings.history.retention,
        ),
    )


def ended_windows_of(settings: Settings) -> EndedWindows:
    """When a flight has ended, from the settings."""
    windows = settings.history.window
    return EndedWindows(
        sodt=windows.sodt,
        cncl=windows.cncl,
        naat=windows.naat,
        neat=windows.neat,
        deleted=windows.deleted,
        null_day=settings.history.null_day_retention,
    )


def remarks(settings: Settings) -> tuple[str, ...]:
    """What is legal and may still be a surprise."""
    bind, tokens = settings.http.bind, settings.http.tokens
    if bind is None or bind.is_loopback or tokens:
        return ()
    return (
        f"msgx.http.bind = {bind} is no loopback address: nothing but health is answered there until there"
        " is a token; `msgx token create` makes one",
    )


@contextmanager
def open_container(
    settings: Settings,
    *,
    create: bool = False,
    log: Literal["json", "console"] = "json",
    clock: Clock | None = None,
    telemetry: Telemetry | None = None,
) -> Iterator[Container]:
    """Open every part and close it at the end, also when opening a later one fails.

    `telemetry` takes the place of log lines on standard error (`log`).
    Raises `ConfigError` for what is missing or wrong, `Transient` for a service that does not answer.
    """
    clock = backends.system_clock() if clock is None else clock
    telemetry = backends.open_telemetry(clock, log) if telemetry is None else telemetry
    lock = threading.RLock()
    with ExitStack() as opened:
        store = backends.open_store(settings, clock, create=create)
        opened.callback(store.close)
        inbox = backends.open_inbox(settings, clock, create=create)
        opened.callback(inbox.close)
        cache = backends.open_cache(settings, clock)
        opened.callback(cache.close)
        bus = backends.open_bus(settings, clock)
        opened.callback(bus.close)
        extras = _extras(settings, clock, telemetry, create, opened)
        codec = backends.open_codec(settings)
        pipeline = Pipeline(
            inbox=inbox,
            store=store,
            cache=cache,
            bus=bus,
            codec=codec,
            clock=clock,
            extras=extras,
            config=pipeline_config_of(settings),
            lock=lock,
        )
        archive = extras.archive
        yield Container(settings, clock, telemetry, inbox, store, cache, bus, codec, lock, pipeline, archive)


def _extras(
    settings: Settings, clock: Clock, telemetry: Telemetry, create: bool, opened: ExitStack
) -> Extras:
    """What the settings may leave out; `opened` closes it."""
    outbound = outbounds.open_outbound(settings, clock, create=create)
    if outbound is not None:
        opened.callback(outbound.close)
    archive = archives.open_archive(settings, timeout_s=archives.WRITING_TIMEOUT_S)
    if archive is not None:
        opened.callback(archive.close)
    history = histories.open_history(settings)
    if history is not None:
        opened.callback(history.close)
    return Extras(telemetry, outbound, history, archive, sweep_turn=threading.Lock())
