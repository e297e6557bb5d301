"""The system under test: two instances on one store, one mailbox, cache and bus; and people who use them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from attrs import define, field

from embedded import SimulatedCrash
from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.outbound_memory import MemoryOutbound
from msgx_core.errors import Fenced, Rejected, Transient
from msgx_core.pipeline.pipeline import Extras, Pipeline
from msgx_core.ports.bus import BusRecord
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.wire import WireMessage
from tests.proof.oracle.books import Oracle
from tests.proof.oracle.hearing import HEARD
from tests.proof.oracle.messages import Message
from tests.proof.oracle.types import Choices
from tests.proof.plant.parts import SHANGHAI, Books, HistoryShelf, config_of
from tests.proof.plant.taps import BusTap, CacheTap, CodecTap, InboxTap, StoreTap, Tap
from tests.proof.plant.topics import Topics
from tests.proof.plant.transitions import Watch
from tests.proof.plant.troubles import Crash, Fuse, Takeover, Trouble
from tests.proof.report import Tally

START = datetime(2027, 3, 14, 0, 0, tzinfo=UTC)
LEASE_S = 600.0
OTHER = {"A": "B", "B": "A"}
OTHERS = "2027-03-13 23:59:59"
"""The mark that others write."""


@define
class Plant:
    """`instances` are the processes that run, `leader` the one that holds the lease; the others are stale.

    `down` are services that are away, for so many pieces of work.

    The oracle hears of every commit through `StoreTap`; `watch` sees what it did to the tables.
    """

    books: Books
    choices: Choices
    tally: Tally
    clock: ManualClock = field(factory=lambda: ManualClock(START))
    bus: MemoryBus = field(factory=MemoryBus)
    cache: MemoryCache = field(factory=MemoryCache)
    history: HistoryShelf = field(factory=HistoryShelf)
    fuse: Fuse = field(factory=Fuse)
    down: dict[str, int] = field(factory=dict)
    instances: dict[str, Pipeline] = field(factory=dict)
    leader: str | None = None
    refused: dict[int, str] = field(factory=dict)
    meanwhile: Callable[[str], None] = field(default=lambda what: None)
    inbox: MemoryInbox = field(init=False)
    outbound: MemoryOutbound = field(init=False)
    oracle: Oracle = field(init=False)
    topics: Topics = field(init=False)
    watch: Watch = field(init=False)
    people: Any = field(init=False)
    spoilt: dict[tuple[str, int], int] = field(factory=dict)
    _starts: int = 0

    def __attrs_post_init__(self) -> None:
        self.inbox = MemoryInbox(zone=SHANGHAI, clock=self.clock)
        self.outbound = MemoryOutbound(zone=SHANGHAI, clock=self.clock)
        self.bus.refuse = self._refusal_of
        self.cache.volatile = False
        self.oracle = Oracle(self.choices, self.clock.now())
        self.topics = Topics(self.bus)
        self.watch = Watch(self.books, self.tally, self.clock.now, self._named)
        self.people = StoreTap(self.books.open(), self, "store", HEARD)

    # The mailbox

    def put(self, msg_id: int, sent: WireMessage | None) -> Message:
        """Upstream commits a row; also one with a smaller id than those that are there."""
        now = self.clock.now()
        local = now.astimezone(SHANGHAI).strftime("%Y-%m-%d %H:%M:%S")
        self.inbox.insert(msg_id, None if sent is None else sent.raw, received=local)
        message = Message(msg_id, sent, received_at=now.replace(microsecond=0))
        self.oracle.messages[msg_id] = message
        return message

    def purge(self, msg_id: int) -> None:
        """The owner removes a row."""
        self.inbox.delete(msg_id)
        self.oracle.messages[msg_id].gone = True

    def purge_in_hand(self) -> None:
        """The owner removes the row that is being worked on."""
        head = self.oracle.head()
        if head is not None:
            self.purge(head.msg_id)

    def mark_by_others(self, msg_id: int) -> None:
        """Somebody else says that a row is processed."""
        row = next(row for row in self.inbox.rows() if row.msg_id == msg_id)
        if row.processed is None:
            self.inbox.delete(msg_id)
            self.inbox.insert(msg_id, row.raw, received=row.received, processed=OTHERS)
            self.oracle.messages[msg_id].mark.by_others = True

    # Processes

    def start(self, who: str) -> bool:
        """A process starts and asks for the lease; whether it got it. If a service is away it ends again."""
        self._starts += 1
        store = StoreTap(self.books.open(), self, "store", HEARD)
        pipeline = Pipeline(
            inbox=InboxTap(self.inbox, self, "mailbox", {"mark"}),
            store=store,
            cache=CacheTap(self.cache, self, "cache", {"write"}),
            bus=BusTap(self.bus, self, "bus", {"publish"}),
            codec=CodecTap(LxmlCodec(), self, "codec", ()),
            clock=self.clock,
            extras=Extras(
                outbound=Tap(self.outbound, self, "mailbox", {"insert"}),
                history=Tap(self.history, self, "history", {"write"}),
            ),
            config=config_of(self.choices),
            on_step=lambda name: self._at_boundary(who, name),
        )
        try:
            if not pipeline.start(f"{who}{self._starts}", LEASE_S).granted:
                return False
        except (Transient, SimulatedCrash):
            self.leader = None
            return False
        self.instances[who], self.leader = pipeline, who
        return True

    def stop(self, who: str) -> None:
        """A process ends in order and gives the lease back, if it is still its own."""
        self.instances.pop(who).store.release_lease()
        self.leader = None if self.leader == who else self.leader

    def take_over(self, who: str, trouble: Trouble | None = None) -> bool:
        """The lease runs out, whoever holds it, and that one takes it; whether it got ready."""
        self.instances.pop(who, None)
        self.books.expire_lease()
        before, self.fuse = self.fuse, self.fuse if trouble is None else Fuse(trouble)
        try:
            return self.start(who)
        finally:
            self.fuse = before

    def work(
        self, who: str, name: str, action: Callable[[Pipeline], object], trouble: Trouble | None = None
    ) -> str:
        """One piece of work of a process, with the trouble it gets into; how it ended."""
        self.fuse = Fuse(trouble)
        try:
            action(self.instances[who])
            end = "done"
        except SimulatedCrash:
            self._gone(who)
            end = "crashed"
        except Fenced:
            assert who != self.leader, "who holds the lease may write (D-34)"
            self._gone(who)
            end = "fenced"
        except Transient as error:
            end = f"no {error.service}"
        finally:
            self.fuse = Fuse()
            self.oracle.forget_decision()
        self.tally.steps[name, end] += 1
        self.down = {service: works - 1 for service, works in self.down.items() if works > 1}
        return end

    def _gone(self, who: str) -> None:
        self.instances.pop(who, None)
        self.leader = None if self.leader == who else self.leader

    def _at_boundary(self, who: str, name: str) -> None:
        self.tally.boundaries[name] += 1
        if name == "decided":
            self.oracle.decided()
        elif name == "fetched":
            self.oracle.fetched()
        trouble = self.fuse.at_boundary()
        if isinstance(trouble, Crash):
            self.tally.crashes[name] += 1
            raise SimulatedCrash(name)
        if isinstance(trouble, Takeover):
            self.tally.takeovers[name] += 1
            self._usurp(OTHER[who], trouble.ticks)
        elif trouble is not None:
            self.tally.meanwhile[name] += 1
            self.meanwhile(trouble.what)

    def _usurp(self, who: str, ticks: int) -> None:
        if self.take_over(who):
            with suppress(Transient):
                for _ in range(ticks):
                    self.instances[who].pump.burst()

    def heal(self) -> None:
        """Everything that was wrong ends."""
        self.down.clear()
        self.refused.clear()
        self.spoilt.clear()
        self.inbox.refuse_marks.clear()

    def lose_cache(self) -> None:
        """The cache starts empty."""
        self.cache.clear()
        self.oracle.cache_lost = True

    def may_leave(self) -> list[int]:
        """Flights that have ended, that nobody works on, and that the history store confirms."""
        return [flid for flid in self.oracle.may_leave() if flid not in self.history.withheld]

    # Time, faults, and what the oracle may look at

    def let_pass(self, seconds: float) -> None:
        """Time goes by for everybody; leases last."""
        self.oracle.now = self.clock.advance(timedelta(seconds=seconds))

    def spoil(self, what: str, msg_id: int, times: int) -> None:
        """So often the row cannot be read, the codec fails, store or cache refuse what it has for them."""
        self.spoilt[what, msg_id] = times

    def spoils(self, what: str, msg_id: int) -> bool:
        """Whether it happens now."""
        left = self.spoilt.get((what, msg_id), 0)
        self.spoilt[what, msg_id] = max(0, left - 1)
        return left > 0

    def rejected(self, reason: str) -> Rejected:
        """The refusal, which the oracle hears of."""
        self.oracle.trouble = ("INFRA", reason)
        return Rejected(reason, "the test wants it so")

    def has_row(self, msg_id: int) -> bool:
        """Whether the mailbox row is there."""
        return any(row.msg_id == msg_id for row in self.inbox.rows())

    def is_marked(self, msg_id: int) -> bool:
        """Whether the mailbox row has its processing time."""
        return any(row.msg_id == msg_id and row.processed for row in self.inbox.rows())

    def bus_has(self, target: str, flid: int, version: int) -> bool:
        """Whether the bus took that record."""
        return self.topics.has(target, flid, version)

    def in_cache(self, flid: int) -> int:
        """The version that the cache has of a flight; 0: none."""
        held = self.cache.entries().get(flid)
        return 0 if held is None else held.version

    def event_of(self, target: str, event_id: int) -> tuple[int, int]:
        """Flight and version of an outbox row."""
        rows = self.books.rows("SELECT TARGET, EVENT_ID, FLID, STATE_VERSION FROM MSG_EVENT")
        (row,) = (r for r in rows if (r["TARGET"], r["EVENT_ID"]) == (target, event_id))
        return row["FLID"], row["STATE_VERSION"]

    def refusal(self, flid: int) -> str | None:
        """The code with which the bus refuses a flight."""
        return self.refused.get(flid)

    def outbound_has(self, seqn: int) -> bool:
        """Whether the outbound table has that request of ours."""
        return any(f"<SEQN>{seqn}</SEQN>" in row.text for row in self.outbound.rows())

    def _refusal_of(self, record: BusRecord) -> str | None:
        named = (code for flid, code in self.refused.items() if b'"FLID":%d,' % flid in record.value)
        return next(named, None)

    def _named(self, msg_id: int) -> tuple[str, str, set[int]]:
        sent = self.oracle.messages[msg_id].sent
        if sent is None:
            return "", "", set()
        return sent.type, sent.styp, {int(str(record["FLID"])) for record in sent.flights}
