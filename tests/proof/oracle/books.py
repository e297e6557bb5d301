"""The oracle: what must be in the books of the whole system, told in plain Python.

It hears of each effect when it is committed (`taken_in`, `applied`, …), says whether it may happen now,
and works out by itself what it does. It shares the tag tables with the product and no rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from attrs import define, field

from msgx_core.model.message import Node
from msgx_core.testing.wire import WireMessage
from tests.proof.oracle.fate import Fate, fate_of
from tests.proof.oracle.flights import Airport
from tests.proof.oracle.messages import ATTEMPTS, BACKOFF, Message
from tests.proof.oracle.outbox import Outbox
from tests.proof.oracle.requests import Asked
from tests.proof.oracle.types import Choices

WINDOW = timedelta(hours=48)
"""How long after its day a flight counts as ended."""


@define
class Oracle:
    """All that the system may hold; `now` is the clock that the pipeline has too."""

    choices: Choices
    now: datetime
    airport: Airport = field(init=False)
    messages: dict[int, Message] = field(factory=dict)
    outbox: Outbox = field(factory=Outbox)
    requests: dict[int, Asked] = field(factory=dict)
    references: dict[str, dict[str, Node]] = field(factory=dict)
    alerts: Counter[tuple[str, int | None]] = field(factory=Counter)
    cached: dict[int, int] = field(factory=dict)
    cache_lost: bool = True
    keys_pending: set[int] = field(factory=set)
    trouble: tuple[str, str] | None = None
    _in_hand: int | None = None
    _fetched: int | None = None
    _ahead: set[int] = field(factory=set)
    _decided: tuple[int, Fate] | None = None
    _seqn: int | None = None
    _schedule_dttm: str | None = None

    def __attrs_post_init__(self) -> None:
        self.airport = Airport(self.choices)

    # What is known of messages

    def head(self) -> Message | None:
        """R-002, R-070: the smallest that has not ended; nothing else may be worked on."""
        open_ = [m for m in self.messages.values() if m.known and not m.is_final]
        return min(open_, key=lambda m: m.msg_id, default=None)

    def holder_of(self, message: Message) -> Message | None:
        """R-041: another message that has the identity that this one wants."""
        if message.identity is not None:
            return None
        wanted = self.identity_of(message)
        return next((m for m in self.messages.values() if m.identity == wanted), None)

    def identity_of(self, message: Message) -> str:
        """R-037, D-23: `SNDR|TYPE|STYP|SEQN`, with the day when that is chosen."""
        assert message.sent is not None
        meta = message.sent.meta
        parts = [meta["SNDR"], meta["TYPE"], meta["STYP"], meta["SEQN"]]
        return "|".join([*parts, *[meta["DTTM"][:8]] * self.choices.identity_with_day])

    def sender_flags(self, sent: WireMessage) -> list[str]:
        """H-53, R-129: what is odd about a schedule is told, and never blocks."""
        old = self._schedule_dttm is not None and sent.meta["DTTM"] < self._schedule_dttm
        lower = self._seqn is not None and int(sent.meta["SEQN"]) < self._seqn
        return ["OUT_OF_ORDER"] * old + ["SEQN_REGRESSION"] * lower

    def foretell(self) -> str:
        """What a tick of the pump must come to (IMP §5.1)."""
        head = self.head()
        if head is None:
            return "idle"
        if head.attempts < ATTEMPTS and head.due is not None and self.now < head.due:
            return "waiting"
        return "done"

    # Messages come in and are worked on

    def taken_in(self, ids: Iterable[int]) -> None:
        """R-023, R-025, R-026: by mailbox id alone, once."""
        for msg_id in ids:
            message = self.messages[msg_id]
            assert not message.known, f"message {msg_id} is taken in twice"
            message.known, message.enqueued_at = True, self.now

    def bound(self, msg_id: int) -> None:
        """R-038, R-039, R-042: the identity of the head, free, and for the first time."""
        message = self._at_hand(msg_id)
        assert message.identity is None, f"the identity of message {msg_id} is bound again (R-038)"
        assert self.holder_of(message) is None, f"message {msg_id} takes an identity that is held (R-041)"
        assert message.sent is not None
        message.identity, message.digest = self.identity_of(message), message.sent.raw

    def taken_in_hand(
        self, msg_id: int | None, ahead: Iterable[int] = (), fetched: int | None = None
    ) -> None:
        """R-002, R-070, R-078: the pump takes the smallest that is open, and no other."""
        head = self.head()
        smallest = None if head is None else head.msg_id
        assert msg_id == smallest, f"message {msg_id} is taken in hand before {smallest} (R-070)"
        self._in_hand, self._fetched = msg_id, fetched
        self._ahead = set(ahead)

    def goes_on_to(self, msg_id: int) -> None:
        """R-002: the next one of a burst is the smallest that is open, though nobody asked which that is."""
        self.taken_in_hand(msg_id, self._ahead, self._fetched if msg_id == self._in_hand else None)

    def fetched_ahead(self, msg_ids: Iterable[int]) -> None:
        """Their texts have been read together: what becomes of the rows now comes too late."""
        self._ahead = set(msg_ids)

    def fetched(self) -> None:
        """Its text has been read: what becomes of the row now comes too late."""
        message = None if self._in_hand is None else self.messages[self._in_hand]
        self._fetched = None if message is None or message.gone else message.msg_id

    def has_text(self, message: Message) -> bool:
        """Whether there is a text to work on (R-062)."""
        there = not message.gone or message.msg_id == self._fetched or message.msg_id in self._ahead
        return message.sent is not None and there and bool(message.sent.raw.strip())

    def decided(self) -> None:
        """What is applied was decided before: what people change meanwhile comes after it."""
        if self._in_hand is not None:
            message = self.messages[self._in_hand]
            self._decided = (message.msg_id, fate_of(self, message, self.now))

    def forget_decision(self) -> None:
        """A piece of work is over."""
        self._decided = None

    def applied(self, msg_id: int) -> None:
        """①: all effects at once, for the first and only time (INV-3, INV-4, D-02)."""
        message = self._at_hand(msg_id)
        assert message.applied is None, f"message {msg_id} is applied twice (D-02)"
        assert message.identity is not None, "the identity is bound before the business transaction (R-083)"
        fate = self._fate(message)
        assert fate.applies, f"message {msg_id} is applied and must end {fate.state} ({fate.reason})"
        message.applied, message.code, message.reason = fate, None, fate.reason
        if fate.deed is not None:
            self.airport.do(fate.deed)
            self.outbox.write(msg_id, fate.deed.steps, self.now)
        self._refer(fate)
        self._answer(message, fate)
        self._alert(fate.alerts, msg_id)
        assert message.sent is not None
        self._seqn = int(message.sent.meta["SEQN"])
        if message.sent.type == "SCHD" and message.sent.styp != "ADFT":
            self._schedule_dttm = message.sent.meta["DTTM"]

    def finished(self, msg_id: int, in_cache: Callable[[int], int]) -> None:
        """③: only what was applied and is in the cache (INV-3, INV-10); its request is answered."""
        message = self._at_hand(msg_id)
        assert message.applied is not None, f"message {msg_id} ends SUCCEEDED and was not applied (INV-3)"
        self._end(message, "SUCCEEDED", None, message.applied.reason)
        for request in self.requests.values():
            if request.answer == msg_id and request.is_open:
                request.close("DONE", None, self.now)
        for flight in self.airport.flights.values():
            if flight.last_msg == msg_id:
                shown = in_cache(flight.flid)
                assert shown >= flight.version or self.cache_lost, (
                    f"the end comes before the cache: {flight.flid}"
                )
                self.cached[flight.flid] = flight.version

    def closed(self, msg_id: int) -> None:
        """`SKIPPED` or `DEAD`: as foretold, or because its attempts are used up (R-072)."""
        message = self._at_hand(msg_id)
        if message.attempts >= ATTEMPTS:
            self._end(message, "DEAD", "EXHAUSTED", message.reason or "attempts-exhausted")
            self._alert(["EXHAUSTED"], msg_id)
        else:
            assert message.applied is None, f"message {msg_id} was applied and ends without effect (D-02)"
            fate = self._fate(message)
            assert not fate.applies, f"message {msg_id} must be applied and ends without effect"
            self._end(message, fate.state, fate.code, fate.reason)
            self._alert(fate.alerts, msg_id)
        for request in self.requests.values():
            if request.answer == msg_id and request.is_open:
                request.answer = None

    def failed(self, msg_id: int) -> None:
        """R-108, R-111, D-25: one attempt, for a reason that lies outside the message; it stays the head."""
        message = self._at_hand(msg_id)
        assert self.trouble is not None, f"message {msg_id} fails and nothing went wrong"
        (message.code, message.reason), self.trouble = self.trouble, None
        message.state, message.trying = "FAILED", False
        message.attempts += 1
        message.due = self.now + BACKOFF[min(message.attempts, len(BACKOFF)) - 1]

    def tried(self, msg_id: int, trying: bool) -> None:
        """D-05: a suspect's try is marked before and cleared after."""
        message = self.messages[msg_id]
        message.trying = trying and not message.is_final

    def interrupted(self) -> None:
        """D-05: who finds a try that was cut off counts it."""
        for message in self.messages.values():
            if message.trying:
                message.trying = False
                message.attempts += 1

    # The cache and the sweep

    def cache_rebuilt(self) -> None:
        """D-31: it holds the live flights and nothing else."""
        self.cache_lost = False
        self.cached = {f.flid: f.version for f in self.airport.flights.values() if f.live}

    def archived(self, flids: Iterable[int]) -> None:
        """D-33: ended flights that no unfinished message has touched last leave."""
        leaving = set(flids)
        assert leaving <= set(self.may_leave()), "only what has ended leaves, and what nobody works on (D-33)"
        steps = self.airport.archive(leaving, self.now)
        self.outbox.write(None, steps, self.now)
        for flid in leaving:
            self.outbox.schd.pop(flid, None)
        self.keys_pending |= leaving | {step.flight.flid for step in steps}

    def may_leave(self) -> list[int]:
        """Ended flights whose last message has ended too."""
        busy = {m.msg_id for m in self.messages.values() if m.applied is not None and not m.is_final}
        ended = (f for f in self.airport.flights.values() if self.airport.ended(f, self.now, WINDOW))
        return [flight.flid for flight in ended if flight.last_msg not in busy]

    def keys_settled(self, flids: Iterable[int]) -> None:
        """D-33: what the sweep changed is in the cache now."""
        for flid in flids:
            self.keys_pending.discard(flid)
            flight = self.airport.flights.get(flid)
            self.cached[flid] = self.airport.floors[flid] if flight is None else flight.version

    # Small parts

    def marked(self, msg_id: int) -> None:
        """The mailbox row gets its time: after the end, and never again (R-131, R-135, R-144)."""
        mark = self.messages[msg_id].mark
        assert mark.ending is not None, f"message {msg_id} is marked and had not ended (R-135)"
        assert mark.on_row is None, f"message {msg_id} is marked twice (R-144)"
        assert not mark.by_others, f"the mark of others on message {msg_id} is overwritten (R-144)"
        mark.on_row = mark.ending

    def alerted(self, code: str) -> None:
        """An alert of its own: the cache was lost and had held something."""
        assert code == "CACHE_LOST"
        assert self.cache_lost
        self._alert([code], None)

    def _at_hand(self, msg_id: int) -> Message:
        """What is let in again meanwhile, or comes late, waits until this one is done with (CLM-3)."""
        assert msg_id == self._in_hand, f"message {msg_id} is worked on, and {self._in_hand} was the head"
        assert not self.messages[msg_id].is_final, f"message {msg_id} has ended (R-110)"
        assert not self.keys_pending, "keys that the sweep left come before the next head (D-33)"
        return self.messages[msg_id]

    def _fate(self, message: Message) -> Fate:
        known, self._decided = self._decided, None
        return known[1] if known and known[0] == message.msg_id else fate_of(self, message, self.now)

    def _end(self, message: Message, state: str, code: str | None, reason: str | None) -> None:
        message.state, message.code, message.reason = state, code, reason
        message.due, message.trying, message.finished_at = None, False, self.now
        message.mark.owe(self.now)

    def _refer(self, fate: Fate) -> None:
        if fate.reference is None:
            return
        rtype, whole, put, removed = fate.reference
        held = self.references.setdefault(rtype, {})
        if whole is not None:
            held.clear()
        held |= put
        for key in removed:
            held.pop(key, None)

    def _answer(self, message: Message, fate: Fate) -> None:
        if fate.answers is not None:
            request = self.requests[fate.answers]
            assert request.is_free, f"request {request.request_id} is answered twice (D-32)"
            request.answer, request.state = message.msg_id, "SENT"
            request.sent_at = request.sent_at or self.now
        if fate.refuses is not None:
            self.requests[fate.refuses].close("FAILED", "eror", self.now)

    def _alert(self, codes: Iterable[str], msg_id: int | None) -> None:
        self.alerts.update((code, msg_id) for code in codes)
