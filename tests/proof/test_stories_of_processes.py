"""Stories of attempts, crashes, lost answers and takeovers."""

from __future__ import annotations

from tests.proof.letters import flop, plain, schedule, unsupported
from tests.proof.plant.troubles import Crash, NoAnswer, Takeover
from tests.proof.teller import TODAY, Teller


def test_attempts_are_counted_and_used_up(m: Teller) -> None:
    """R-063, R-065, R-072, R-073, R-108, R-111, R-118, R-126, D-25: fail, wait, succeed, skip, die."""
    for sent in (
        schedule("DNLD", plain(1, TODAY)),
        unsupported(),
        flop(1, "STND", "1"),
        flop(1, "STND", "2"),
    ):
        m.upstream_sends(sent)
    m.a_message_meets_a_fault("row", 0, 2)
    m.tick()
    m.tick()
    m.time_passes(1)
    m.tick()
    m.people_replay()
    m.tick()
    m.a_message_meets_a_fault("row", 0, 1)
    m.tick()
    m.time_passes(1)
    m.tick()
    assert m.fate(2) == ("SKIPPED", "unsupported")
    m.a_message_meets_a_fault("codec", 0, 1)
    m.a_message_meets_a_fault("store", 0, 1)
    m.tick()
    m.time_passes(1)
    m.tick()
    m.time_passes(6)
    m.tick()
    assert m.fate(3) == ("SUCCEEDED", None)
    m.a_message_meets_a_fault("cache", 0, 4)
    for _ in range(4):
        m.tick()
        m.time_passes(6)
    assert m.fate(4) == ("DEAD", "cache-rejected"), "EXHAUSTED keeps the last reason, though it was applied"
    m.people_replay()
    m.a_message_meets_a_fault("cache", 0, 0)
    m.work_on(1)
    assert m.fate(4) == ("SUCCEEDED", None)
    assert m.machine.seen.flights[1].version == 3, "and it is not applied again"


def test_a_message_that_kills_the_process_runs_out_of_attempts(m: Teller) -> None:
    """R-072, R-118, D-05: the first crash makes suspicious, each further one is counted; then it is dead."""
    m.sends(schedule("DNLD", plain(1, TODAY)))
    m.upstream_sends(flop(1, "STND", "1"))
    m.upstream_sends(flop(1, "STND", "2"))
    m.intake()
    for _ in range(4):
        m.tick(Crash(1))
    m.tick()
    assert m.fate(2) == ("DEAD", "attempts-exhausted")
    m.tick()
    assert m.fate(3) == ("SUCCEEDED", None)


def test_a_crash_at_any_boundary_changes_nothing(m: Teller) -> None:
    """R-219, R-447, R-449 to R-452, R-455, INV-3, D-02: it goes on from where it was, once."""
    m.sends(schedule("DNLD", plain(1, TODAY)))
    for at in range(8):
        m.upstream_sends(flop(1, "STND", str(at)))
        m.intake(Crash(at % 2))
        m.intake()
        m.tick(Crash(at))
        m.tick()
        m.work_on(2)
        m.write_back(Crash(at % 3))
        m.relay_notices(Crash(at % 2))
        m.relay_states(Crash(at % 2))
        m.people_ask_for_a_schedule()
        m.send_requests(Crash(at % 4))
        m.send_requests()
        m.time_passes(130)
    assert m.machine.seen.flights[1].version == 9


def test_answers_get_lost(m: Teller) -> None:
    """R-085, R-447, R-455, D-02, D-04: whether the call took place or not, it takes place once."""
    m.sends(schedule("DNLD", plain(1, TODAY)))
    for n in range(6):
        for done in (True, False):
            m.upstream_sends(flop(1, "STND", f"{n}{done}"))
            m.tick(NoAnswer(n, done))
            m.work_on(2)
            m.write_back(NoAnswer(n % 3, done))
            m.relay_notices(NoAnswer(n % 2, done))
            m.relay_states(NoAnswer(n % 2, done))
            m.people_ask_for_a_schedule()
            m.send_requests(NoAnswer(n % 3, done))
            m.time_passes(16)
            m.send_requests()
    assert m.machine.seen.flights[1].version == 13


def test_the_standby_takes_over_at_any_boundary(m: Teller) -> None:
    """R-033, D-34: the old leader is refused at its next write; what it had begun is ended once."""
    m.sends(schedule("DNLD", plain(1, TODAY)))
    for at in range(7):
        m.upstream_sends(flop(1, "STND", f"{at}"))
        m.upstream_sends(flop(1, "STND", f"{at} again"))
        m.intake()
        m.tick(Takeover(at, 2))
        m.work_on(2)
        m.write_back(Takeover(at % 3, 0))
        m.relay_notices(Takeover(0, 0))
        m.the_standby_takes_over()
        for work in ("tick", "write-back", "notices", "intake"):
            if m.machine.stale():
                m.the_old_leader_goes_on(work)
        m.time_passes(16)
    for at in range(4):
        m.the_cache_is_lost()
        m.the_standby_takes_over(crash=at)
        m.work_on(1)
    m.a_standby_asks()
    m.the_leader_stops()
    assert m.machine.seen.flights[1].version == 15
