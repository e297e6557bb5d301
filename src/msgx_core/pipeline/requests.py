"""Requests on their way out: sent once or known to be lost, expired, and asked for daily (D-32, FST §7.1)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta

from attrs import define, field, frozen

from msgx_core.errors import Late, MessageError, Rejected
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.pipeline.desk import Desk
from msgx_core.pipeline.permits import LeasePermit
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports import Codec, Outbound, Store
from msgx_core.ports.operations import Audit
from msgx_core.rules.daily_request import daily_day
from msgx_core.rules.outbound import is_same_request, request_text
from msgx_core.rules.requests import expiry_limit

DAILY = Audit("msgx", "daily request (msgx.requests.daily-at)")
_RECENT = 1000
_SETTLE_S = 2.0
"""A statement under way when the mailbox fell silent is done, or gone, this long after it answers again."""


@frozen
class RequestPolicy:
    """Numbers and names of requests; `daily_at` is airport local time, None: no daily request."""

    sender: str = "RMS"
    routing_schedule: str = "RQFD"
    routing_reference: str = "RQRD"
    timeout: timedelta = timedelta(minutes=30)
    daily_at: time | None = None
    daily_pause: timedelta = timedelta(minutes=10)


@frozen
class RequestsRun:
    """What one run did, by number of requests."""

    asked: int = 0
    sent: int = 0
    lost: int = 0
    expired: int = 0


@define
class RequestSender:
    """What the lease holder does with requests; one thread at a time, without the pipeline lock.

    Sending is begun in the store, then the row is inserted, then the request is `SENT`. Where that broke off
    the outbound table is searched for our number: what is there is sent, what is not is lost; nothing is
    inserted a second time, nor after another instance has taken over (D-34). `outbound` None (a shadow
    instance, D-42): requests stay as they are, only expiry goes on. Every step is a boundary at which a crash
    leaves a state that the next run continues from.
    """

    _desk: Desk
    _store: Store
    _codec: Codec
    _outbound: Outbound | None
    _policy: RequestPolicy
    _on_step: Callable[[str], None] = no_step
    _in_doubt: dict[int, float | None] = field(factory=dict, init=False)
    _heard_at: datetime | None = field(default=None, init=False)

    def check_rights(self) -> None:
        """At start: `ConfigError` when requests may not be inserted that are to be."""
        if self._outbound is not None:
            self._outbound.check_rights()

    def run(self) -> RequestsRun:
        """Expire, then ask for the day, then send.

        Raises `Transient` when mailbox or store do not answer, `Fenced` when another instance has taken over.
        """
        with self._desk.telemetry.stage("requests"):
            expired = self.expire()
            asked = self.ask_daily()
            sent, lost = self.send()
        return RequestsRun(int(asked is not None), sent, lost, expired)

    def send(self) -> tuple[int, int]:
        """Send what is pending, and find out about what was begun; how many were sent, and lost."""
        if self._outbound is None:
            return 0, 0
        ends = [self._advance(request, self._outbound) for request in self._store.pending_requests()]
        return ends.count(RequestState.SENT), ends.count(RequestState.FAILED)

    def heard(self, at: datetime) -> None:
        """The intake has taken in all that was in the mailbox at that time."""
        self._heard_at = at

    def expire(self) -> int:
        """`SENT` requests without an answer after `msgx.requests.timeout` are `EXPIRED`; how many.

        An answer that is in the mailbox, or waits for its turn, has come: nothing expires over its head.
        """
        if self._heard_at is None:
            return 0
        head = self._store.head()
        if head is not None and head.received_at is None:
            return 0
        waiting_since = None if head is None else head.received_at
        limit = expiry_limit(self._heard_at, waiting_since, self._policy.timeout)
        expired = self._store.expire_requests(limit, self._desk.clock.now())
        if expired:
            self._on_step(Step.REQUESTS_EXPIRED)
        for request_id in expired:
            self._tell("expired", request_id)
        return len(expired)

    def ask_daily(self) -> Request | None:
        """Ask for the next operation day where that is due; the new request, which `send` sends."""
        if self._outbound is None or self._policy.daily_at is None:
            return None
        now = self._desk.clock.now()
        policy = self._desk.policy
        recent = self._store.requests(_RECENT)
        day = daily_day(recent, now, self._policy.daily_at, self._policy.daily_pause, policy)
        if day is None:
            return None
        wanted = Request(0, RequestSlot.RQFD, RequestState.PENDING, now, first_day=day, last_day=day)
        asked = self._store.ask(wanted, DAILY, now)
        if asked is not None:
            self._on_step(Step.DAILY_ASKED)
            self._tell("asked", asked.request_id)
        return asked

    def _advance(self, request: Request, outbound: Outbound) -> RequestState | None:
        if request.send_started_at is None:
            return self._first_try(request, outbound)
        return self._after_a_break(request, request.send_started_at, outbound)

    def _first_try(self, request: Request, outbound: Outbound) -> RequestState | None:
        # While the mailbox is down nothing is begun: what was not begun cannot be lost.
        outbound.ping()
        begun = self._store.begin_send(request.request_id, self._desk.clock.now())
        if begun is None:
            return None
        self._on_step(Step.SEND_BEGUN)
        self._in_doubt[begun.request_id] = None
        try:
            text = request_text(begun, self._policy.sender, self._desk.policy)
            outbound.insert(text, self._routing(begun), LeasePermit(self._store))
        except (Rejected, ValueError, Late) as error:
            return self._lost(begun, f"it was refused: {getattr(error, 'detail', None) or error}")
        self._on_step(Step.SEND_INSERTED)
        return self._confirmed(begun)

    def _after_a_break(self, request: Request, begun_at: datetime, outbound: Outbound) -> RequestState | None:
        rows = outbound.inserted_since(begun_at)
        self._on_step(Step.SEND_SEARCHED)
        if any(self._is_ours(row.text, request) for row in rows):
            return self._confirmed(request)
        if not self._is_settled(request.request_id):
            return None
        return self._lost(request, "the outbound table does not have it")

    def _is_settled(self, request_id: int) -> bool:
        """Whether what we do not find cannot come any more: a lost connection may still be served."""
        if request_id not in self._in_doubt:
            return True
        now_s = self._desk.clock.monotonic_s()
        missed_s = self._in_doubt[request_id]
        if missed_s is None:
            self._in_doubt[request_id] = now_s
            return False
        return now_s - missed_s >= _SETTLE_S

    def _is_ours(self, text: str, request: Request) -> bool:
        try:
            meta = self._codec.decode(text).meta
        except MessageError:
            return False
        return is_same_request(meta, request, self._policy.sender)

    def _confirmed(self, request: Request) -> RequestState | None:
        sent = self._store.confirm_sent(request.request_id, self._desk.clock.now())
        self._in_doubt.pop(request.request_id, None)
        self._on_step(Step.SEND_CONFIRMED)
        if sent:
            self._tell("sent", request.request_id)
        return RequestState.SENT if sent else None

    def _lost(self, request: Request, why: str) -> RequestState | None:
        detail = f"request {request.request_id} ({request.slot.value}, SEQN {request.seqn}): {why}; ask again"
        alert = Alert(AlertCode.SEND_LOST, detail=detail)
        lost = self._store.lose_send(request.request_id, alert, self._desk.clock.now())
        self._in_doubt.pop(request.request_id, None)
        self._on_step(Step.SEND_LOST)
        if lost:
            self._tell("lost", request.request_id)
        return RequestState.FAILED if lost else None

    def _routing(self, request: Request) -> str:
        policy = self._policy
        return policy.routing_schedule if request.slot is RequestSlot.RQFD else policy.routing_reference

    def _tell(self, what: str, request_id: int) -> None:
        self._desk.telemetry.count(f"msgx.requests.{what}")
        self._desk.telemetry.event(f"request-{what}", request_id=request_id)
