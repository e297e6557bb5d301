"""Stories of what surrounds a message: write-back, events, requests, outages, the cache."""

from __future__ import annotations

from msgx_core.model.message import MsgKind, Node
from msgx_core.testing.wire import Fault, WireMessage, meta
from tests.proof.letters import adft, eror, fdel, flop, miscounted, plain, schedule
from tests.proof.plant.troubles import Crash, Meanwhile
from tests.proof.teller import DAY, TODAY, TOMORROW, Teller

_CUT_OFF = Fault("cut-off", "MALFORMED", "not-well-formed", undecodable=True)


def test_a_mark_is_refused_given_up_and_resumed(m: Teller) -> None:
    """R-134, R-139, R-143 to R-148, R-150, D-26, D-38: retried, past R tried once more, given up, resumed."""
    m.sends(schedule("DNLD", plain(1, TODAY)), flop(1, "STND", "1"), flop(1, "STND", "2"))
    m.the_mailbox_refuses_a_mark(0)
    m.the_owner_removes_a_row(1)
    for pause in (6, 31 * 60, 31 * 60, 8 * DAY):
        m.write_back()
        m.time_passes(pause)
    m.write_back()
    assert m.machine.seen.messages[1]["BACKFILL_ABANDONED_REASON"] == "TRANSIENT_DEADLINE"
    assert m.machine.seen.messages[2]["BACKFILL_ABANDONED_REASON"] == "MISSING_ROW"
    m.nothing_is_refused_any_more()
    m.people_resume_write_backs()
    m.write_back()
    assert m.machine.seen.mailbox[1].processed is not None


def test_a_replay_and_a_write_back_exclude_one_another(m: Teller) -> None:
    """R-120, R-121, R-154, D-25, H-25: while one is written the other waits; what is written stays."""
    for _ in range(2):
        m.upstream_sends(miscounted("DNLD", plain(1, TODAY)))
    m.upstream_sends(flop(2, "ACFT", "73F"))
    m.work_on(3)
    m.people_replay(force=True)
    m.work_on(3)
    m.write_back(Meanwhile(0, "replay"))
    m.people_replay(force=True)
    m.work_on(3)
    m.upstream_sends_no_text()
    m.intake()
    m.the_owner_removes_a_row(3)
    m.work_on(1)
    m.write_back()
    assert m.machine.seen.messages[4]["BACKFILL_ABANDONED_REASON"] == "MISSING_ROW"
    m.people_replay()
    m.work_on(1)


def test_an_event_is_refused(m: Teller) -> None:
    """R-112, R-113, R-114, R-373, R-374, D-26, D-28, D-29: retried, dead, let go, discarded, overtaken."""
    m.sends(schedule("DNLD", plain(1, TODAY), plain(2, TODAY)))
    m.relay_states()
    m.sends(flop(1, "STND", "1"), flop(1, "STND", "2"))
    m.the_bus_refuses_a_flight(1, "refused:policy")
    for _ in range(3):
        m.relay_notices()
        m.relay_states()
        m.time_passes(1)
    m.sends(flop(1, "STND", "3"))
    for _ in range(2):
        m.relay_notices()
        m.relay_states()
        m.time_passes(1)
    topics = [row["TARGET"] for row in m.machine.seen.dead_events]
    m.people_settle_a_dead_event(topics.index("KAFKA:schd"), discard=True)
    m.sends(flop(1, "STND", "4"))
    m.nothing_is_refused_any_more()
    m.the_bus_refuses_a_flight(2, "too-large")
    m.sends(flop(2, "STND", "1"))
    m.relay_states()
    for discard in (False, True, False):
        m.people_settle_a_dead_event(0, discard=discard)
    m.relay_notices()
    m.sends(fdel(1))


def test_a_request_is_answered(m: Teller) -> None:
    """R-006, R-334, R-337, R-339, R-412, D-32: answered, also before it is known to be sent; replaced."""
    m.people_ask_for_a_schedule()
    m.send_requests()
    m.sends(schedule("RESP", plain(1, TODAY)))
    assert m.request(1) == ("DONE", None)
    m.people_ask_for_a_schedule()
    m.sends(schedule("RESP", plain(1, TODAY)))
    assert m.request(2) == ("DONE", None)
    m.people_ask_for_a_schedule()
    m.people_ask_for_a_schedule(first=1)
    m.send_requests()
    m.people_ask_for_a_schedule()
    assert (m.request(3), m.request(4)) == (("EXPIRED", "replaced"), ("EXPIRED", "replaced"))
    m.sends(schedule("RESP", plain(1, TODAY)))
    assert m.request(5)[0] == "PENDING", "the answer may be that of the one before: it only upserts"
    m.people_ask_for_reference_data("GLST")
    m.send_requests()
    gate = Node("GLST", children=(Node("GCOD", "A1"),))
    m.sends(WireMessage(MsgKind.REFERENCE, meta("GLST", "RESP"), "1", records=(gate,)))
    assert m.request(6) == ("DONE", None)


def test_a_request_is_refused_lost_or_forgotten(m: Teller) -> None:
    """R-332, R-338, D-32: `EROR` closes the one it names or the only one; a broken send is found out."""
    m.people_ask_for_a_schedule()
    m.sends(eror())
    m.people_ask_for_a_schedule()
    m.people_ask_for_reference_data("RSTA")
    m.send_requests()
    m.sends(eror(), eror(ETYP="RQRD"), eror(ETYP="RQRD"))
    assert m.fate(2) == ("SKIPPED", "ambiguous-error")
    assert m.fate(4) == ("SKIPPED", "no-open-request")
    assert (m.request(1), m.request(3)) == (("FAILED", "eror"), ("FAILED", "eror"))
    m.write_back()
    m.time_passes(31 * 60)
    m.intake()
    m.send_requests()
    assert m.request(2) == ("EXPIRED", "timeout")
    m.people_ask_for_a_schedule()
    m.send_requests(Crash(0))
    m.send_requests()
    assert m.request(4) == ("FAILED", "send-lost")
    m.people_ask_for_a_schedule()
    m.send_requests(Crash(1))
    m.send_requests()
    assert m.request(5) == ("SENT", None)


def test_an_answer_that_dies_leaves_its_request_open(m: Teller) -> None:
    """R-171, D-32: bound in ①, unbound with its death; a new request is refused meanwhile."""
    m.people_ask_for_a_schedule()
    m.send_requests()
    m.upstream_sends(schedule("RESP", plain(1, TODAY)))
    m.intake()
    m.a_message_meets_a_fault("cache", 0, 4)
    m.tick()
    m.people_ask_for_a_schedule()
    for _ in range(3):
        m.time_passes(6)
        m.tick()
    assert m.fate(1) == ("DEAD", "cache-rejected")
    assert m.machine.seen.requests[1].resp_msg_id is None
    m.sends(schedule("RESP", plain(1, TODAY)))
    assert m.request(1) == ("DONE", None)


def test_an_older_answer_is_let_in_while_another_is_under_way(m: Teller) -> None:
    """R-120, R-339, D-32: the request is taken, so the older one matches none; nothing is stuck."""
    m.people_ask_for_a_schedule()
    m.send_requests()
    m.upstream_sends(schedule("RESP", plain(1, TODAY)))
    m.a_message_meets_a_fault("row", 0, 3)
    for _ in range(4):
        m.tick()
        m.time_passes(6)
    assert m.fate(1) == ("DEAD", "raw-unreadable")
    m.upstream_sends(schedule("RESP", plain(1, TODAY)))
    m.intake()
    m.a_message_meets_a_fault("cache", 0, 1)
    m.tick()
    m.people_replay()
    m.time_passes(6)
    m.work_on(3)
    assert m.request(1) == ("DONE", None)


def test_every_service_goes_away(m: Teller) -> None:
    """R-024, R-085, R-123, D-04: nothing is counted, nothing is dead, nothing is lost; then it goes on."""
    m.sends(schedule("DNLD", plain(1, TODAY)))
    for service in ("mailbox", "cache", "bus", "store", "history"):
        m.upstream_sends(flop(1, "STND", service))
        m.intake()
        m.people_ask_for_a_schedule()
        m.a_service_goes_away(service, works=6)
        for work in ("tick", "write_back", "relay_notices", "relay_states", "send_requests"):
            getattr(m, work)()
        m.it_comes_back()
        m.work_on(2, all_parts=True)
    assert all(row["ATTEMPTS"] == 0 for row in m.machine.seen.messages.values())


def test_the_cache_is_lost_and_made_anew(m: Teller) -> None:
    """R-375, INV-5, D-31: noticed, told once, filled from the store; keys left by the sweep too."""
    m.sends(schedule("DNLD", plain(1, TODAY), plain(2, TOMORROW)), fdel(2), adft(plain(3, TOMORROW, 1)))
    m.the_cache_is_lost()
    m.sends(flop(1, "STND", "1"))
    m.look_after_the_cache()
    m.time_passes(3 * DAY + 5 * 3600)
    m.sweep(Crash(2))
    m.sends(flop(3, "STND", "1"))
    m.look_after_the_cache()
    m.sweep()


def test_an_undecodable_text_has_no_identity(m: Teller) -> None:
    """R-062, R-064, D-25: it is dead before it can be a duplicate; the same text again is dead again."""
    m.upstream_sends(WireMessage(MsgKind.FLOP, meta("FLOP", "STND"), written=b"<MSG", fault=_CUT_OFF))
    m.upstream_repeats_a_seqn(0)
    m.upstream_sends_no_text()
    m.work_on(3)
    assert [m.fate(n)[1] for n in (1, 2, 3)] == ["not-well-formed", "not-well-formed", "raw-missing"]
