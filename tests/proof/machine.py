"""The model of the whole system: anybody may do anything at any time; after each step every invariant holds.

Read the rules as sentences: upstream sends, processes work and get into trouble, services go away and come
back, people intervene, time passes. `invariants` says what is true throughout, `oracle` what must come of it.
"""

from __future__ import annotations

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from msgx_core.model.events import Target
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.pipeline.pump import Tick
from msgx_core.testing.wire import WireMessage
from tests.proof import letters
from tests.proof.bursts import Bursts
from tests.proof.oracle.hearing_services import due_marks
from tests.proof.plant.airport import OTHER
from tests.proof.plant.look import Look
from tests.proof.plant.troubles import Crash, Trouble
from tests.proof.steering import PAUSES, PICKS, SERVICES, TROUBLES, WORK
from tests.proof.walk import AUDIT

reachable = precondition(lambda self: "store" not in self.plant.down)


class Proof(Bursts):
    """Upstream, two processes, five services, people and the clock."""

    # Upstream

    @rule(sent=letters.ANYTHING)
    def upstream_sends(self, sent: WireMessage) -> None:
        """A message is committed under the next id, with the next `SEQN`."""
        self.put(self.new_id(), sent if sent.written is not None else sent.numbered(self.next_id))

    @rule(sent=letters.FLIGHTS)
    def upstream_sends_it_twice(self, sent: WireMessage) -> None:
        """The same again under another `SEQN` is another message (R-043)."""
        self.upstream_sends(sent)
        self.upstream_sends(sent)

    @rule(pick=PICKS, otherwise=st.booleans())
    def upstream_repeats_a_seqn(self, pick: int, otherwise: bool = False) -> None:
        """With the same text, or with another one (R-041, R-043, D-24)."""
        before = [m.sent for m in self.messages() if m.sent is not None]
        if before:
            sent = before[pick % len(before)]
            other = otherwise and sent.written is None
            self.put(self.new_id(), evolve(sent, meta={**sent.meta, "XTRA": "1"}) if other else sent)

    @rule()
    def upstream_sends_no_text(self) -> None:
        """The text of a row may be NULL (R-062)."""
        self.put(self.new_id(), None)

    @rule()
    def upstream_takes_an_id(self) -> None:
        """Its row is committed later, when rows with larger ids are there (R-031)."""
        self.reserved.append(self.new_id())

    @precondition(lambda self: self.reserved)
    @rule(sent=letters.FLIGHTS)
    def upstream_commits_late(self, sent: WireMessage) -> None:
        """The row with the smaller id appears (R-031)."""
        msg_id = self.reserved.pop(0)
        self.put(msg_id, sent.numbered(1000 + msg_id))

    @rule(pick=PICKS)
    def the_owner_removes_a_row(self, pick: int) -> None:
        """The mailbox is other people's (R-062, R-145)."""
        rows = [message for message in self.messages() if not message.gone]
        if rows:
            self.plant.purge(rows[pick % len(rows)].msg_id)

    @precondition(lambda self: bool(self.messages()))
    @rule(pick=PICKS)
    def others_mark_a_row(self, pick: int) -> None:
        """What we have seen counts as written back; what we have not never comes to us (R-027, R-144)."""
        rows = [message for message in self.messages() if not message.gone]
        if rows:
            self.plant.mark_by_others(rows[pick % len(rows)].msg_id)

    # Processes at work

    @rule(trouble=TROUBLES)
    def intake(self, trouble: Trouble | None = None) -> None:
        """A scan takes in all that is not marked, whatever waits for its mark (R-022 to R-028, D-35)."""
        if self.work("intake", WORK["intake"], trouble):
            unmarked = {row.msg_id for row in self.plant.inbox.rows() if row.processed is None}
            assert unmarked <= {m.msg_id for m in self.messages() if m.known}

    @rule(trouble=TROUBLES)
    def tick(self, trouble: Trouble | None = None) -> None:
        """The head is taken to its end, unless it fails; nothing else is (R-070 to R-074)."""
        if self.plant.oracle.head() is None:
            self.intake()
        told, head = self.plant.oracle.foretell(), self.plant.oracle.head()
        ticked: list[Tick] = []
        if self.work("tick", lambda p: ticked.append(p.pump.tick()), trouble):
            kind = ticked[0].kind.value
            assert kind == told or (told, kind) == ("done", "failed"), f"{kind}, and it must be {told}"
            assert head is None or kind != "done" or head.is_final

    @rule(ticks=st.integers(1, 6), all_parts=st.booleans())
    def work_on(self, ticks: int = 6, all_parts: bool = False) -> None:
        """Intake, several ticks, and the other parts as well: nobody disturbs."""
        self.intake()
        for _ in range(ticks):
            self.tick()
        if all_parts:
            self.relay_notices()
            self.relay_states()
            self.write_back()
            self.send_requests()

    @precondition(lambda self: bool(due_marks(self.plant.oracle)))
    @rule(trouble=TROUBLES)
    def write_back(self, trouble: Trouble | None = None) -> None:
        """All that is due is settled (R-136, R-143 to R-146)."""
        if self.work("write-back", WORK["write-back"], trouble):
            assert not due_marks(self.plant.oracle)

    @precondition(lambda self: self.plant.oracle.outbox.due("KAFKA:msg", self.now()))
    @rule(trouble=TROUBLES)
    def relay_notices(self, trouble: Trouble | None = None) -> None:
        """Of each flight the oldest notice that is not sent (D-28)."""
        self.relay("KAFKA:msg", WORK["notices"], trouble)

    @precondition(lambda self: self.plant.oracle.outbox.due("KAFKA:schd", self.now()))
    @rule(trouble=TROUBLES)
    def relay_states(self, trouble: Trouble | None = None) -> None:
        """The newest state of each flight (D-29)."""
        self.relay("KAFKA:schd", WORK["states"], trouble)

    @precondition(lambda self: any(r.is_open for r in self.plant.oracle.requests.values()))
    @rule(trouble=TROUBLES)
    def send_requests(self, trouble: Trouble | None = None) -> None:
        """They go out, or are known to be lost, or expire (D-32)."""
        asked = self.plant.oracle.requests.values()
        fresh = [r for r in asked if r.state == "PENDING" and r.begun_at is None]
        if self.work("requests", WORK["requests"], trouble):
            assert all(r.state == "SENT" for r in fresh)

    @precondition(lambda self: self.plant.oracle.may_leave())
    @rule(trouble=TROUBLES)
    def sweep(self, trouble: Trouble | None = None) -> None:
        """Ended flights leave when the history store has confirmed them (D-33)."""
        if self.work("sweep", WORK["sweep"], trouble):
            assert not self.plant.may_leave(), "what has ended and is confirmed has left"

    @precondition(lambda self: self.plant.oracle.cache_lost)
    @rule()
    def look_after_the_cache(self) -> None:
        """A lost cache is noticed and made anew (D-31)."""
        if self.work("cache", lambda p: p.cache_keeper.ensure()):
            assert not self.plant.oracle.cache_lost

    # Services

    @precondition(lambda self: not self.plant.down)
    @rule(service=st.sampled_from(SERVICES), works=st.integers(1, 6))
    def a_service_goes_away(self, service: str, works: int = 1) -> None:
        """For so many pieces of work; nothing is counted meanwhile (D-04)."""
        self.plant.down[service] = works

    @precondition(lambda self: self.plant.down)
    @rule()
    def it_comes_back(self) -> None:
        """All services answer again."""
        self.plant.down.clear()

    @rule(flid=letters.FLIDS, code=st.sampled_from(["refused:policy", "too-large"]))
    def the_bus_refuses_a_flight(self, flid: int, code: str) -> None:
        """The others go on (D-26)."""
        self.plant.refused[flid] = code

    @precondition(lambda self: bool(self.messages()))
    @rule(pick=PICKS)
    def the_mailbox_refuses_a_mark(self, pick: int) -> None:
        """The others are written (D-26)."""
        rows = self.messages()
        self.plant.inbox.refuse_marks[rows[pick % len(rows)].msg_id] = "locked"

    @rule(flid=letters.FLIDS)
    def history_is_unsure_of_a_flight(self, flid: int) -> None:
        """It stays (D-33)."""
        self.plant.history.withheld ^= {flid}

    @rule()
    def nothing_is_refused_any_more(self) -> None:
        """By the bus and the mailbox."""
        self.plant.refused.clear()
        self.plant.inbox.refuse_marks.clear()

    @precondition(lambda self: bool(self.open_messages()))
    @rule(what=st.sampled_from(["row", "codec", "store", "cache"]), pick=PICKS, times=st.integers(1, 4))
    def a_message_meets_a_fault(self, what: str, pick: int, times: int = 1) -> None:
        """Its row cannot be read, our codec fails, store or cache refuse it: so often (R-063, R-065)."""
        waiting = self.open_messages()
        self.plant.spoil(what, waiting[pick % len(waiting)].msg_id, times)

    @rule()
    def the_cache_is_lost(self) -> None:
        """It starts empty (D-31)."""
        self.plant.lose_cache()

    # People

    @precondition(lambda self: self.ended("FAILED", "DEAD"))
    @rule(force=st.booleans())
    def people_replay(self, force: bool = False) -> None:
        """All that is failed or dead; the whitelist says what is let in (R-120)."""
        self.people(lambda: self.replay(force))

    @precondition(lambda self: self.ended("SKIPPED"))
    @rule(pick=PICKS)
    def people_readmit(self, pick: int = 0) -> None:
        """A duplicate that was none (D-24)."""
        skipped = self.ended("SKIPPED")
        msg_id = skipped[pick % len(skipped)].msg_id
        self.people(lambda: self.plant.people.readmit(msg_id, AUDIT, self.now()))

    @precondition(lambda self: any(m.mark.abandoned for m in self.messages()))
    @rule()
    def people_resume_write_backs(self) -> None:
        """All that was given up (D-38)."""
        self.people(lambda: self.plant.people.resume_writebacks(None, AUDIT, self.now()))

    @precondition(lambda self: self.seen.dead_events)
    @rule(pick=PICKS, discard=st.booleans())
    def people_settle_a_dead_event(self, pick: int = 0, discard: bool = False) -> None:
        """It may try again, or is done with (R-373)."""
        row = self.seen.dead_events[pick % len(self.seen.dead_events)]
        action = self.plant.people.discard_events if discard else self.plant.people.requeue_events
        self.people(lambda: action([row["EVENT_ID"]], AUDIT, self.now(), Target(row["TARGET"])))

    @precondition(lambda self: self.seen.open_alerts)
    @rule()
    def people_acknowledge(self) -> None:
        """All alerts that are open (D-41)."""
        self.people(lambda: self.plant.people.acknowledge(self.seen.open_alerts, AUDIT, self.now()))

    @rule(first=st.integers(0, 2), days=st.integers(1, 2))
    def people_ask_for_a_schedule(self, first: int = 0, days: int = 1) -> None:
        """It replaces the open request, unless that is being answered (D-32)."""
        self.people(lambda: self.ask(first, days))

    @rule(rtype=st.sampled_from(["GLST", "RSTA"]))
    def people_ask_for_reference_data(self, rtype: str) -> None:
        """The same for a category."""
        wanted = Request(0, RequestSlot.RQRD, RequestState.PENDING, self.now(), rtype=rtype)
        self.people(lambda: self.create(wanted))

    # Time and processes

    @rule(seconds=st.sampled_from(PAUSES))
    def time_passes(self, seconds: int) -> None:
        """Pauses end, claims and requests run out, flights end."""
        self.plant.let_pass(seconds)

    @reachable
    @rule()
    def the_leader_stops(self) -> None:
        """In order: the lease is free at once."""
        leader = self.leader()
        if leader == self.plant.leader:
            self.plant.stop(leader)

    @reachable
    @rule()
    def a_standby_asks(self) -> None:
        """While the lease lasts it gets nothing (R-033, D-34)."""
        leader = self.leader()
        if leader == self.plant.leader and OTHER[leader] not in self.plant.instances:
            assert not self.plant.start(OTHER[leader])
            assert self.plant.leader == leader

    @reachable
    @rule(crash=st.none() | st.integers(0, 4))
    def the_standby_takes_over(self, crash: int | None = None) -> None:
        """The lease ran out without notice: the old leader does not know yet. It may crash itself (D-34)."""
        self.plant.take_over(OTHER[self.leader()], None if crash is None else Crash(crash))

    @precondition(lambda self: self.stale())
    @rule(work=st.sampled_from(sorted(WORK)))
    def the_old_leader_goes_on(self, work: str) -> None:
        """Each of its writes is refused: nothing but the cache can differ, and that is never newer (D-34)."""
        before = Look.at(self.plant)
        self.plant.work(self.stale()[0], f"stale {work}", WORK[work])
        assert evolve(Look.at(self.plant), cache=before.cache) == before
