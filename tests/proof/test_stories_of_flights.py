"""Stories of flights and messages: what random walks meet rarely is told here, so that every run has it."""

from __future__ import annotations

from tests.proof.letters import adft, eror, fdel, flop, plain, schedule, unsupported
from tests.proof.plant.troubles import Meanwhile
from tests.proof.teller import DAY, TODAY, TOMORROW, Teller, under


def test_a_flight_lives_leaves_and_comes_back(m: Teller) -> None:
    """R-115, R-292, R-293, D-06, D-07, D-08, D-33, D-37: made, deleted, rebuilt, archived, made anew."""
    m.sends(
        schedule("DNLD", plain(1, TODAY), plain(2, TODAY)),
        flop(1, "STND", "12"),
        flop(3, "GTDT", [{"GATE": "B1"}]),
    )
    m.sends(schedule("DNLD", plain(1, TODAY, FLNO="QX1")), fdel(2), fdel(2), flop(2, "STND", "9"))
    assert m.fate(6) == ("SUCCEEDED", "already-gone")
    assert m.fate(7) == ("SKIPPED", "flight-deleted")
    m.sends(adft(plain(2, None, RENO="B1")), fdel(2))
    m.time_passes(8 * DAY)
    m.sweep()
    assert m.live() == {3}, "a flight without a day stays"
    m.sends(flop(1, "STND", "3"), fdel(1), adft(plain(1, TOMORROW)))
    assert m.fate(10) == ("SKIPPED", "flight-archived")
    assert m.live() == {1, 3}


@under(dnld="single-day")
def test_absence_deletes_a_day(m: Teller) -> None:
    """R-166, R-182, R-328, INV-7, D-11: the covered day and no other; an empty answer empties its day."""
    m.sends(
        schedule("DNLD", plain(1, TODAY), plain(2, TODAY)),
        schedule("DNLD", plain(3, TOMORROW)),
        adft(plain(4, TODAY)),
    )
    m.sends(schedule("DNLD", plain(2, TODAY)))
    assert m.live() == {2, 3, 4}, "an extra flight is on no roster"
    m.people_ask_for_a_schedule(first=0, days=2)
    m.send_requests()
    m.sends(schedule("RESP", plain(2, TODAY)))
    assert m.live() == {2, 3, 4}, "a covered day without a record keeps its roster"
    m.people_ask_for_a_schedule(first=1, days=1)
    m.send_requests()
    m.sends(schedule("RESP"))
    assert m.live() == {2, 4}


@under(dnld="observed")
def test_absence_deletes_between_two_times(m: Teller) -> None:
    """R-166, INV-7, D-11: live flights planned between the first and the last, both included."""
    m.sends(schedule("DNLD", plain(1, "14MAR270800"), plain(2, "14MAR271000"), plain(3, "14MAR271200")))
    m.sends(schedule("DNLD", plain(4, "14MAR270900"), plain(3, "14MAR271200")))
    assert m.live() == {1, 3, 4}
    m.sends(schedule("DNLD", plain(5)))
    assert m.fate(3) == ("DEAD", "sodt-missing:5")


def test_a_flight_never_changes_its_day(m: Teller) -> None:
    """R-128, R-191, R-285, INV-4, D-10: nothing of the package is written, not even what is right in it."""
    m.sends(schedule("DNLD", plain(1, TODAY)), schedule("DNLD", plain(2, TODAY), plain(1, TOMORROW)))
    assert m.fate(2) == ("DEAD", "SAME_FLID_ACROSS_OPERATION_DAYS")
    assert m.live() == {1}
    m.sends(adft(plain(1, TOMORROW)), fdel(1), schedule("DNLD", plain(1, TOMORROW)))
    assert m.fate(5) == ("DEAD", "SAME_FLID_ACROSS_OPERATION_DAYS"), "a deleted flight stays bound"


def test_shared_flights_follow_their_main_flight(m: Teller) -> None:
    """R-303 to R-311, D-21: the list, its changes as steps of the main flight, one level of cascade."""
    m.sends(schedule("DNLD", plain(2, TODAY, 1, FLNO="A2"), plain(3, TODAY, 1), plain(1, TODAY)))
    assert [child.flid for child in m.machine.seen.flights[1].mafl] == [2, 3]
    m.sends(adft(plain(2, None, None, FLNO="B2")), fdel(3), adft(plain(3, None, 1)), adft(plain(4, TODAY, 2)))
    m.sends(adft(plain(3, None, 2)), adft(plain(3, None, 1)), fdel(1))
    assert m.live() == {4}
    m.sends(schedule("DNLD", plain(1, TODAY, 1), plain(2, TODAY, 1)))
    m.time_passes(4 * DAY)
    m.history_is_unsure_of_a_flight(1)
    m.sweep()
    assert m.live() == {1}
    assert m.machine.seen.flights[1].mafl == ()


@under(suppress_unchanged=True)
def test_what_is_known_already_is_no_step(m: Teller) -> None:
    """D-15: with `msgx.events.suppress-unchanged` the same state again makes no version and no event."""
    m.sends(schedule("DNLD", plain(1, TODAY)), schedule("DNLD", plain(1, TODAY)))
    assert m.machine.seen.flights[1].version == 1
    assert m.machine.seen.flights[1].last_msg_id == 2


@under(create_missing=False, whitelist="baseline")
def test_what_is_passed_over(m: Teller) -> None:
    """R-043, R-058 to R-060, R-210, R-217, D-08, D-18, D-22, D-24: and a duplicate that people let in."""
    m.sends(flop(1, "GTDT", [{"GATE": "B1"}]), flop(1, "STND", "1"), unsupported(), schedule("RESP"), eror())
    reasons = ["missing-flight", "unsupported", "unsupported", "unmatched-response", "no-open-request"]
    assert [m.fate(n) for n in range(1, 6)] == [("SKIPPED", reason) for reason in reasons]
    m.upstream_sends(adft(plain(1, TODAY)))
    m.upstream_repeats_a_seqn(pick=5)
    m.upstream_repeats_a_seqn(pick=5, otherwise=True)
    m.work_on(3)
    assert [m.fate(7), m.fate(8)] == [("SKIPPED", "duplicate-of:6")] * 2
    m.write_back()
    m.people_readmit(pick=0)
    m.people_readmit(pick=5)
    m.people_readmit(pick=5)
    m.work_on(2)
    assert m.fate(8) == ("SUCCEEDED", None)


def test_a_late_row_is_found(m: Teller) -> None:
    """R-022, R-031, INV-1: id handed out before, row committed after; found by the next scan."""
    m.upstream_takes_an_id()
    m.upstream_takes_an_id()
    m.sends(schedule("DNLD", plain(1, TODAY)))
    m.write_back()
    m.upstream_commits_late(flop(1, "STND", "late"))
    m.upstream_sends(flop(1, "ACFT", "73F"))
    m.intake()
    m.tick(Meanwhile(0, "late-row"))
    assert m.fate(1) == ("SUCCEEDED", None)
    m.work_on(3)
    assert m.fate(2)[0] == "SUCCEEDED"
