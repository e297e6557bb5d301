"""How a walk of the model begins, what is checked after each step, and the hands that its rules work with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import ClassVar

from attrs import evolve
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    run_state_machine_as_test,
)

from msgx_core.errors import Conflict, Transient
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.pipeline.pipeline import Pipeline
from msgx_core.ports.operations import Audit
from msgx_core.rules.replay import REPLAY_WHITELIST
from msgx_core.testing.wire import WireMessage
from tests.proof import letters
from tests.proof.invariants import check
from tests.proof.oracle.messages import Message
from tests.proof.oracle.types import Choices
from tests.proof.plant.airport import OTHER, Plant
from tests.proof.plant.look import Look
from tests.proof.plant.parts import Books
from tests.proof.plant.troubles import Trouble
from tests.proof.report import Tally
from tests.proof.rest import come_to_rest

AUDIT = Audit("test", "the model wants it so")
DAY = date(2027, 3, 14)
CHOICES = st.builds(
    Choices,
    dnld=st.sampled_from(["window", "single-day", "observed"]),
    whitelist=st.sampled_from(["extended", "all", "baseline"]),
    create_missing=st.booleans(),
    suppress_unchanged=st.booleans(),
    identity_with_day=st.booleans(),
    cutover=st.sampled_from([time(0, 0), time(4, 30)]),
)


class Walk(RuleBasedStateMachine):
    """`open_books` gives empty books; a test module sets it, and the tally of its store.

    `tell` hears how far it is, before each walk.
    """

    open_books: ClassVar[Callable[[], Books]]
    tally: ClassVar[Tally]
    tell: ClassVar[Callable[[str], None]] = staticmethod(lambda how_far: None)

    def __init__(self) -> None:
        super().__init__()
        self.next_id = 1
        self.reserved: list[int] = []
        self._turn = "B"
        self.plant: Plant
        self.seen: Look

    @initialize(choices=CHOICES, first=letters.DOWNLOADS)
    def an_airport_opens(self, choices: Choices, first: WireMessage | None = None) -> None:
        """Two instances, empty books, a mailbox; A holds the lease, and has the first schedule."""
        self.tally.walks += 1
        type(self).tell(f"{self.tally.walks} walks, {len(self.tally.missing())} transitions not taken yet")
        self.plant = Plant(type(self).open_books(), choices, self.tally)
        self.plant.meanwhile = self._meanwhile
        self.plant.start("A")
        self.seen = Look.at(self.plant)
        if first is not None:
            self.put(self.new_id(), first.numbered(self.next_id))
            self.work("intake", lambda p: p.intake.scan())
            self.work("tick", lambda p: p.pump.tick())

    @invariant()
    def all_is_well(self) -> None:
        """Every invariant of `invariants`, on everything that is there."""
        if hasattr(self, "plant"):
            self.seen = check(self.plant, self.seen)

    def teardown(self) -> None:
        """However it went, it comes to rest: everything gone wrong ends, and time passes."""
        if not hasattr(self, "plant"):
            return
        self.seen = come_to_rest(self.plant, self.leader, self.seen)
        for message in self.messages():
            kind = "no text" if message.sent is None else message.sent.kind.value
            reason = "" if message.reason is None else f" {message.reason.partition(':')[0]}"
            self.tally.ends[kind, f"{message.state}{reason}" if message.known else "never seen"] += 1

    # Hands

    def messages(self) -> list[Message]:
        """All that upstream has committed, by id."""
        return [message for _, message in sorted(self.plant.oracle.messages.items())]

    def open_messages(self) -> list[Message]:
        """Those that have not ended, the unseen ones too."""
        return [message for message in self.messages() if not message.is_final]

    def ended(self, *states: str) -> list[Message]:
        """Known messages in one of these states."""
        return [message for message in self.messages() if message.known and message.state in states]

    def new_id(self) -> int:
        """The next id of the mailbox."""
        self.next_id += 1
        return self.next_id - 1

    def put(self, msg_id: int, sent: WireMessage | None) -> None:
        """Upstream commits a row."""
        self.plant.put(msg_id, sent)

    def work(self, name: str, action: Callable[[Pipeline], object], trouble: Trouble | None = None) -> bool:
        """The leader does a piece of work; whether it came to its end undisturbed."""
        leader = self.leader()
        if leader != self.plant.leader:
            return False
        end = self.plant.work(leader, name, action, trouble)
        return end == "done" and trouble is None

    def leader(self) -> str:
        """Who holds the lease. After a crash it has run out by now, and the other one has it (D-34).

        If a service is away nobody may get ready; then it is who has tried.
        """
        if self.plant.leader is None:
            self._turn = OTHER[self._turn]
            self.plant.take_over(self._turn)
        return self.plant.leader or self._turn

    def relay(self, target: str, action: Callable[[Pipeline], object], trouble: Trouble | None) -> None:
        """What was due when the relay began is not due any more when it is done."""
        due = self.plant.oracle.outbox.due(target, self.now())
        if self.work(f"relay {target}", action, trouble):
            assert not due & self.plant.oracle.outbox.due(target, self.now())

    def people(self, action: Callable[[], object]) -> None:
        """People ask the store for something; it may be away."""
        try:
            action()
            end = "done"
        except Transient as error:
            end = f"no {error.service}"
        self.tally.steps["people", end] += 1

    def replay(self, force: bool) -> None:
        """Every message that is failed or dead; the store says which may."""
        ids = [message.msg_id for message in self.ended("FAILED", "DEAD")]
        if ids:
            self.plant.people.replay(ids, () if force else REPLAY_WHITELIST, AUDIT, self.now())

    def ask(self, first: int, days: int) -> None:
        """A request for the schedule of so many days from that one on."""
        begin = DAY + timedelta(days=first)
        end = begin + timedelta(days=days - 1)
        wanted = Request(0, RequestSlot.RQFD, RequestState.PENDING, self.now())
        self.create(evolve(wanted, first_day=begin, last_day=end))

    def create(self, wanted: Request) -> None:
        """Refused exactly while the open one is being answered (D-32)."""
        held = [r for r in self.plant.oracle.requests.values() if r.slot == wanted.slot.value and r.is_open]
        answering = any(r.answer is not None for r in held)
        try:
            self.plant.people.create_request(wanted, AUDIT, self.now())
            assert not answering
        except Conflict:
            assert answering

    def now(self) -> datetime:
        """The clock of everybody."""
        return self.plant.clock.now()

    def stale(self) -> list[str]:
        """Processes that held the lease and do not know that they have lost it."""
        return [who for who in self.plant.instances if who != self.plant.leader]

    def _meanwhile(self, what: str) -> None:
        if what == "replay":
            self.people(lambda: self.replay(False))
        elif what == "pause":
            self.plant.let_pass(16)
            self.people(lambda: self.replay(True))
        elif what == "request":
            self.people(lambda: self.ask(0, 1))
        elif what == "cache-lost":
            self.plant.lose_cache()
        elif what == "row-gone":
            self.plant.purge_in_hand()
        elif self.reserved:
            self.put(self.reserved.pop(), letters.fdel(1).numbered(5000 + self.new_id()))


def walk(
    machine: type[Walk], *, walks: int, steps: int, tell: Callable[[str], None] = lambda how_far: None
) -> None:
    """So many random walks of so many steps; the same ones each time in the profile `ci`."""
    machine.tell = staticmethod(tell)
    wanted = settings(
        max_examples=walks, stateful_step_count=steps, suppress_health_check=list(HealthCheck), deadline=None
    )
    run_state_machine_as_test(machine, settings=wanted)
