"""The whole pipeline on its ports; embed it with adapters of your own or run it as the daemon does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from attrs import evolve

from msgx_core.errors import ConfigError, Transient
from msgx_core.pipeline.cache_keeper import CacheKeeper
from msgx_core.pipeline.config import DrainReport, Extras, PipelineConfig
from msgx_core.pipeline.desk import Desk
from msgx_core.pipeline.evidence import Evidence
from msgx_core.pipeline.intake import Intake
from msgx_core.pipeline.jobs import JobRunner, job_works
from msgx_core.pipeline.outages import OutageWatch
from msgx_core.pipeline.pending_keys import KeysFirst, PendingKeys
from msgx_core.pipeline.processor import MessageProcessor
from msgx_core.pipeline.pump import Pump
from msgx_core.pipeline.relays import MsgRelay, RelayTools, SchdRelay
from msgx_core.pipeline.replay import ReplayService
from msgx_core.pipeline.requests import RequestSender
from msgx_core.pipeline.retention import RetentionSweep
from msgx_core.pipeline.selfcheck import check_each, check_numbers, keep_policy, pin_identity
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.pipeline.sweep import HistorySweep
from msgx_core.pipeline.writeback import WritebackSweep
from msgx_core.ports import Bus, Cache, Clock, Codec, Inbox, LeaseGrant, Store

__all__ = ["DrainReport", "Extras", "Pipeline", "PipelineConfig"]

_DRAINED = ("mailbox", "store", "cache", "bus")


class Pipeline:
    """Intake, pump, write-back and relays as objects that a caller drives in its own threads.

    Every part is safe to run beside the others; each part itself runs in one thread at a time. `lock` must
    exclude other users of the same lock object (D-01) and may be left out in a single thread. Nothing
    happens before `start`. `on_step` is told the name of each boundary that is passed (`steps.Step`); what it
    raises goes through, so that a crash can be tried at each of them.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        store: Store,
        cache: Cache,
        bus: Bus,
        codec: Codec,
        clock: Clock,
        extras: Extras | None = None,
        config: PipelineConfig | None = None,
        lock: AbstractContextManager[object] | None = None,
        on_step: Callable[[str], None] = no_step,
    ) -> None:
        config = _checked(config)
        extras = Extras() if extras is None else extras
        telemetry = extras.telemetry
        lock = nullcontext() if lock is None else lock
        self.config, self.store, self._on_step = config, store, on_step
        desk = Desk(store, clock, config.policy, telemetry)
        keys = PendingKeys(store, cache, config.policy, telemetry, lock, on_step)
        self.evidence = Evidence(extras.archive, clock, telemetry, on_step)
        evidence = None if extras.archive is None else self.evidence
        first = KeysFirst(lock, keys)
        processor = MessageProcessor(inbox, cache, codec, desk, config.retry, first, on_step, evidence)
        outbound = extras.outbound if config.mailbox_write_enabled else None
        self.requests = RequestSender(desk, store, codec, outbound, config.requests, on_step)
        self.intake = Intake(inbox, store, clock, telemetry, config.claim_batch, on_step, self.requests.heard)
        self.pump = Pump(processor, desk, config.retry, keys=keys)
        self.writeback = WritebackSweep(
            inbox, store, clock, telemetry, config.writeback, config.mailbox_write_enabled, on_step
        )
        tools = RelayTools(store, bus, clock, telemetry, config.event_retry, on_step)
        self.msg_relay, self.schd_relay = _relays(tools, config)
        sweep, self.retention = _clearing(desk, keys, config, extras, on_step)
        self.sweep = evolve(sweep, lock=lock, evidence=evidence, forget=processor.memory.forget)
        self.replay = ReplayService(store, processor, clock)
        self.cache_keeper = CacheKeeper(cache, desk, lock, on_step)
        self.jobs = JobRunner(store, job_works(self.cache_keeper, self.sweep), clock, telemetry, on_step)
        self.outages = OutageWatch(store, clock, telemetry, on_step)

    def start(self, holder: str, lease_expiry_s: float = 3.0) -> LeaseGrant:
        """Take the lease and get ready; nothing else may run when it is not granted (D-34).

        Raises `ConfigError` when the store was started with another identity algorithm.
        """
        self.pin()
        grant = self.store.acquire_lease(holder, lease_expiry_s)
        if grant.granted:
            self._on_step(Step.LEASE_TAKEN)
            self.outages.leased()
            self.prepare(grant)
        return grant

    def pin(self) -> None:
        """Keep the choices that cannot change with the data; `ConfigError` for another one (D-23)."""
        pin_identity(self.store, self.config.policy)
        keep_policy(self.store, self.config.policy)

    def check_rights(self) -> None:
        """At start: may we write into the mailbox what we have to? Nothing is changed by that.

        `ConfigError` names each right that is missing, `Transient` a mailbox that does not answer.
        """
        check_each((self.writeback.check_rights, self.requests.check_rights))

    def prepare(self, grant: LeaseGrant) -> None:
        """Get ready under a lease just taken, before the first tick (D-05, D-31)."""
        self.pump.resume(unclean=grant.unclean)
        self.cache_keeper.ensure()

    def drain(self, stop: Callable[[], bool] = lambda: False) -> DrainReport:
        """Intake, process, write back, relay and send requests until nothing is left, or the head waits.

        A service that does not answer keeps no other from being served; at the end its `Transient` is
        raised, and what was done stays done; the outage is in the store, and its end after a drain that got
        through. Without the store nothing goes on.
        """
        outages: list[Transient] = []
        taken_in = finished = written_back = sent = requests_sent = 0
        waiting: int | None = None
        with _going_on(outages):
            taken_in, finished, waiting = self._drain_messages(stop)
        with _going_on(outages):
            written_back = self._drain_writeback(stop)
        for relay in (self.msg_relay, self.schd_relay):
            with _going_on(outages):
                sent += self._drain_relay(relay, stop)
        with _going_on(outages):
            self.requests.expire()
            requests_sent, _ = self.requests.send()
        self._tell_outages(outages, stopped=stop())
        if outages:
            raise outages[0]
        return DrainReport(taken_in, finished, written_back, sent, waiting, stop(), requests_sent)

    def _tell_outages(self, met: Sequence[Transient], *, stopped: bool) -> None:
        self.outages.look()
        for error in met:
            self.outages.failed(error)
        if not (met or stopped):
            # What an outage had held up was there to be done first, and is done.
            self.outages.answered(*_DRAINED)
        self.outages.tell()

    def _drain_messages(self, stop: Callable[[], bool]) -> tuple[int, int, int | None]:
        taken_in = finished = 0
        waiting: int | None = None
        while not stop():
            new = self.intake.scan(stop).new
            taken_in += new
            ticked, waiting = self._drain_pump(stop)
            finished += ticked
            if waiting is not None or not (new or ticked):
                break
        return taken_in, finished, waiting

    def _drain_pump(self, stop: Callable[[], bool]) -> tuple[int, int | None]:
        finished = 0
        while not stop():
            tick = self.pump.burst(stop)
            finished += tick.done
            if not tick.again:
                return finished, tick.msg_id
        return finished, None

    def _drain_writeback(self, stop: Callable[[], bool]) -> int:
        done = 0
        while not stop():
            result = self.writeback.sweep()
            done += result.done
            if not result.full:
                break
        return done

    @staticmethod
    def _drain_relay(relay: MsgRelay | SchdRelay, stop: Callable[[], bool]) -> int:
        sent = 0
        while not stop():
            result = relay.run_once()
            sent += result.sent
            if not result.full or not (result.sent or result.refused):
                break
        return sent


def _checked(config: PipelineConfig | None) -> PipelineConfig:
    config = PipelineConfig() if config is None else config
    problems = check_numbers(config.policy, config.retry, config.event_retry, config.writeback)
    if problems:
        raise ConfigError(problems)
    return config


def _clearing(
    desk: Desk, keys: PendingKeys, config: PipelineConfig, extras: Extras, on_step: Callable[[str], None]
) -> tuple[HistorySweep, RetentionSweep]:
    store, history = keys.store, extras.history
    clock, telemetry, policy = desk.clock, desk.telemetry, config.policy
    sweep = HistorySweep(store, keys, clock, telemetry, policy, config.ended, history, on_step=on_step)
    retention = RetentionSweep(store, clock, telemetry, policy, config.retention, history, on_step)
    return evolve(sweep, turn=extras.sweep_turn), retention


def _relays(tools: RelayTools, config: PipelineConfig) -> tuple[MsgRelay, SchdRelay]:
    schd = SchdRelay(tools, config.topic_schd, config.schd_flush_limit, config.schd_records_per_message)
    return MsgRelay(tools, config.topic_msg, config.event_batch), schd


@contextmanager
def _going_on(outages: list[Transient]) -> Iterator[None]:
    """Note an outage and go on, unless it is the store's."""
    try:
        yield
    except Transient as error:
        if error.service == "store":
            raise
        outages.append(error)
