"""Store suite: outages are kept, end, and have one alert each (D-04)."""

from __future__ import annotations

import pytest
from attrs import evolve

from msgx_core.errors import Fenced
from msgx_core.model.outage import Outage
from msgx_core.ports import Store
from msgx_core.testing.builders import NOW, later
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, everything, one

DOWN = Outage("cache", NOW, "OOM command not allowed")
WORDS = "cache does not answer: OOM"
OVER = evolve(DOWN, ended_at=later(30))


def _alerts(store: Store) -> list[tuple[object, ...]]:
    shown = store.alerts(acknowledged=True)
    return [(a["CODE"], a["DETAIL"], a["CREATED_AT"], a.get("ENDED_AT")) for a in shown]


def _taken_over(store: Store, another: Another) -> Store:
    successor = another(store)
    store.release_lease()
    assert successor.acquire_lease("successor", 60.0).granted
    return successor


class OutageContract(StoreContract):
    """`ports.Outages`."""

    def test_an_outage_that_is_on_has_an_alert(self, held: Store, oracle: Oracle) -> None:
        """D-04: who, since when, what it said; the alert in the same transaction."""
        held.note_outage(DOWN, WORDS, later(1))
        epoch = held.lease().epoch
        assert list(held.outages()) == [evolve(DOWN, epoch=epoch)]
        assert _alerts(held) == [("OUTAGE", WORDS, later(1), None)]
        linked = "SELECT O.SERVICE, O.EPOCH FROM OPS_OUTAGE O JOIN OPS_ALERT A ON A.ALERT_ID = O.ALERT_ID"
        assert one(oracle, linked) == {"SERVICE": "cache", "EPOCH": epoch}
        assert held.counts().alerts_open == 1

    def test_it_ends_on_the_row_and_on_the_alert(self, held: Store) -> None:
        """D-04: the alert stays open until a person takes note (D-41)."""
        held.note_outage(DOWN, WORDS, later(1))
        held.note_outage(OVER, WORDS, later(31))
        assert list(held.outages()) == [evolve(OVER, epoch=held.lease().epoch)]
        assert _alerts(held) == [("OUTAGE", WORDS, later(1), later(30))]
        assert held.counts().alerts_open == 1

    def test_one_that_is_told_when_it_is_over(self, held: Store) -> None:
        """D-04: the store's own is noted on recovery, begin and end at once."""
        whole = Outage("store", NOW, "57P03", ended_at=later(5))
        held.note_outage(whole, "store did not answer", later(6))
        assert list(held.outages()) == [evolve(whole, epoch=held.lease().epoch)]
        assert _alerts(held) == [("OUTAGE", "store did not answer", later(6), later(5))]

    @pytest.mark.parametrize("notes", [[DOWN, DOWN], [DOWN, OVER, DOWN], [OVER, DOWN], [OVER, OVER, DOWN]])
    def test_however_often_and_late_it_is_noted(
        self, held: Store, oracle: Oracle, notes: list[Outage]
    ) -> None:
        """D-04: a call without an answer is repeated, and a frozen server executes the first one later."""
        held.note_outage(notes[0], WORDS, NOW)
        if len(notes) == 3:
            held.note_outage(notes[1], WORDS, later(31))
        before = everything(oracle)
        held.note_outage(notes[-1], WORDS, later(40))
        assert everything(oracle) == before
        assert len(_alerts(held)) == 1

    def test_the_next_one_is_another(self, held: Store, oracle: Oracle) -> None:
        """D-04: one alert per outage; what is noted late of the one before changes nothing."""
        held.note_outage(DOWN, WORDS, NOW)
        held.note_outage(OVER, WORDS, later(31))
        held.note_outage(evolve(DOWN, since=later(60)), "again", later(61))
        assert _alerts(held) == [("OUTAGE", WORDS, NOW, later(30)), ("OUTAGE", "again", later(61), None)]
        before = everything(oracle)
        held.note_outage(DOWN, WORDS, later(62))
        held.note_outage(OVER, WORDS, later(62))
        assert everything(oracle) == before

    def test_one_whose_end_was_not_noted_has_ended_when_the_next_begins(self, held: Store) -> None:
        """D-04: no alert stays without an end behind a later one."""
        held.note_outage(DOWN, WORDS, NOW)
        held.note_outage(evolve(DOWN, since=later(60)), "again", later(61))
        assert [alert[3] for alert in _alerts(held)] == [later(60), None]

    def test_the_next_holder_goes_on_with_it(self, held: Store, another: Another) -> None:
        """D-04, D-34: the same outage under a new epoch; its alert is the same one and gets the end."""
        held.note_outage(DOWN, WORDS, NOW)
        successor = _taken_over(held, another)
        assert [outage.epoch for outage in successor.outages()] == [successor.lease().epoch - 1]
        met_again = evolve(DOWN, detail="connection refused")
        successor.note_outage(met_again, WORDS, later(10))
        assert list(successor.outages()) == [evolve(met_again, epoch=successor.lease().epoch)]
        successor.note_outage(evolve(met_again, ended_at=later(20)), WORDS, later(21))
        assert _alerts(successor) == [("OUTAGE", WORDS, NOW, later(20))]

    def test_the_clock_of_the_next_holder_may_be_behind(self, held: Store, another: Another) -> None:
        """D-34: what is old news is a matter of one epoch."""
        held.note_outage(OVER, WORDS, NOW)
        successor = _taken_over(held, another)
        earlier = evolve(DOWN, since=later(-5))
        successor.note_outage(earlier, "behind", NOW)
        assert [(o.since, o.ended_at) for o in successor.outages()] == [(later(-5), None)]
        assert len(_alerts(successor)) == 2

    def test_services_do_not_know_each_other(self, held: Store) -> None:
        """D-04: one row each, by name."""
        held.note_outage(DOWN, WORDS, NOW)
        held.note_outage(evolve(DOWN, service="bus"), "bus", NOW)
        held.note_outage(OVER, WORDS, later(31))
        assert [(o.service, o.ended_at) for o in held.outages()] == [("bus", None), ("cache", later(30))]

    def test_it_is_fenced(self, held: Store, another: Another, oracle: Oracle) -> None:
        """D-34: only the holder tells."""
        held.note_outage(DOWN, WORDS, NOW)
        _taken_over(held, another)
        before = everything(oracle)
        for late in (DOWN, OVER, evolve(DOWN, since=later(99))):
            with pytest.raises(Fenced):
                held.note_outage(late, WORDS, later(99))
        assert everything(oracle) == before
