"""Store suite: what verification reads, texts put back from the archive, recovery (D-31, D-36)."""

from __future__ import annotations

import pytest
from attrs import evolve

from msgx_core.errors import Fenced
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, NOW, apply, close, dead, enqueue, flight, later, put
from msgx_core.testing.store_contract import (
    Another,
    Oracle,
    StoreContract,
    count,
    everything,
    message,
    msg_event_ids,
    one,
)

GROUNDS = '{"raw":"2027/03/14/00000000001.xml.gz"}'
MISSING = dead("MALFORMED", "raw-missing")


class EvidenceContract(StoreContract):
    """The rest of `ports.operations`, and `ports.recovery`."""

    def test_applied_messages_in_the_order_of_their_effects(self, held: Store) -> None:
        """D-02, D-36: by `APPLY_NO`, page by page, with what a decision depended on."""
        enqueue(held, 3)
        numbers = {msg_id: apply(held, msg_id, put(flight(msg_id)), coverage="{}") for msg_id in (9, 2, 5)}
        close(held, dead(), 4)
        found = held.applied(0)
        assert [row["MSG_ID"] for row in found] == [9, 2, 5]
        assert [row["APPLY_NO"] for row in found] == list(numbers.values())
        assert {(row["APPLIED_AT"], row["COVERAGE"], row["ENQUEUED_AT"]) for row in found} == {
            (NOW, "{}", NOW)
        }
        assert [row["MSG_ID"] for row in held.applied(numbers[9], 1)] == [2]
        assert list(held.applied(numbers[5])) == []

    def test_floors_and_pins(self, held: Store, oracle: Oracle) -> None:
        """D-37, D-23: with the time at which a floor was set."""
        assert held.floors() == {}
        oracle.run(
            "INSERT INTO FLIGHT_VERSION_FLOOR (FLID, STATE_VERSION, UPDATED_AT)"
            " VALUES (7, 12, '2027-03-14T06:30:00.123456+00:00')"
        )
        assert held.floors() == held.floors(7) == {7: (12, NOW)}
        assert held.floors(8) == {}
        held.pin("policy.ab", "{}")
        assert held.pins()["policy.ab"] == "{}"

    def test_a_text_is_put_back(self, held: Store, oracle: Oracle) -> None:
        """D-36: the message starts over, its place in the archive with it; one audit row."""
        close(held, MISSING, 1)
        assert [(r.target, r.refused) for r in held.replay_from_archive({1: GROUNDS}, AUDIT, later(5))] == [
            (1, None)
        ]
        row = message(oracle, 1)
        assert (row["STATE"], row["COVERAGE"], row["REASON"], row["FINISHED_AT"]) == (
            "PENDING",
            GROUNDS,
            None,
            None,
        )
        head = held.head()
        assert head is not None
        assert head.coverage == GROUNDS
        audit = one(oracle, "SELECT * FROM OPS_AUDIT")
        assert (audit["ACTION"], audit["TARGET"], audit["ACTOR"]) == ("replay", 1, AUDIT.actor)
        assert GROUNDS in audit["DETAIL"]

    def test_a_text_is_put_back_for_no_other(self, held: Store, oracle: Oracle) -> None:
        """D-36: not for a message that is not missing, in the order asked for; nothing is written."""
        enqueue(held, 1)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        close(held, dead(), 2)
        apply(held, 3, put(flight(7)))
        before = everything(oracle)
        found = held.replay_from_archive(dict.fromkeys((99, 3, 2, 1), GROUNDS), AUDIT, NOW)
        assert [result.target for result in found] == [99, 3, 2, 1]
        assert all(result.refused for result in found)
        assert everything(oracle) == before

    def test_a_text_is_put_back_before_its_turn(self, held: Store, oracle: Oracle) -> None:
        """D-31: what is taken in again after a restored backup may lie in the archive alone."""
        enqueue(held, 1)
        (result,) = held.replay_from_archive({1: GROUNDS}, AUDIT, later(5))
        assert result.refused is None
        assert (message(oracle, 1)["STATE"], message(oracle, 1)["COVERAGE"]) == ("PENDING", GROUNDS)

    def test_versions_are_raised(self, held: Store, oracle: Oracle) -> None:
        """D-31: versions, floors and both event counters, all by the same; nothing else."""
        apply(held, 1, put(flight(7)), put(flight(8)))
        number = apply(held, 2, put(flight(8, version=2, msg_id=2, deleted=True)))
        oracle.run(
            "INSERT INTO FLIGHT_VERSION_FLOOR (FLID, STATE_VERSION, UPDATED_AT)"
            " VALUES (9, 12, '2027-03-14T06:30:00.123456+00:00')"
        )
        before = {flid: held.flight(flid) for flid in (7, 8)}
        raised = held.raise_versions(1000, AUDIT, NOW)
        assert (raised.flights, raised.floors, raised.apply_no) == (2, 1, number)
        for flid, state in before.items():
            assert state is not None
            assert held.flight(flid) == evolve(state, version=state.version + 1000)
        assert held.floors() == {9: (1012, NOW)}
        apply(held, 3, put(flight(7, version=1002, msg_id=3), read_version=1001))
        assert msg_event_ids(oracle) == [1, 2, 3, 1004]
        # The SEQN of our requests must not come again either: the outbound table was not restored (D-32).
        (outbound,) = oracle.rows("SELECT VALUE FROM COUNTERS WHERE NAME = 'outbound_seqn'")
        assert outbound["VALUE"] == 1000
        (audit,) = held.audit()
        assert (audit["ACTION"], audit["TARGET"]) == ("recover_versions", 1000)
        assert audit["DETAIL"].split()[-1] == str(number)

    def test_events_are_written_once_more(self, held: Store, oracle: Oracle) -> None:
        """D-27, D-29: ids go on, one document for each flight, flights stay as they are."""
        apply(held, 1, put(flight(7)), put(flight(8)))
        flights = [held.flight(7), held.flight(8)]
        again = [
            put(flight(7), notice='{"FLID":7,"AGAIN":1}', document='{"FLID":7,"AGAIN":1}'),
            put(flight(8), notice='{"FLID":8,"AGAIN":1}', document=None),
        ]
        held.republish(again, later(9))
        assert [held.flight(7), held.flight(8)] == flights
        assert msg_event_ids(oracle) == [1, 2, 3, 4]
        rows = {row["EVENT_ID"]: row for row in held.events(target="KAFKA:msg")}
        assert [(rows[n]["FLID"], rows[n]["PAYLOAD"]["AGAIN"]) for n in (3, 4)] == [(7, 1), (8, 1)]
        documents = {row["FLID"]: row for row in held.events(target="KAFKA:schd")}
        assert (documents[7]["EVENT_ID"], documents[7]["PAYLOAD"], documents[7]["STATUS"]) == (
            3,
            {"FLID": 7, "AGAIN": 1},
            "PENDING",
        )
        assert documents[8]["EVENT_ID"] == 2
        held.republish([], NOW)
        assert count(oracle, "MSG_EVENT") == 6

    def test_what_was_done_is_recorded(self, held: Store) -> None:
        """D-34: an audit row of its own."""
        held.record("recover_take_in", 12, "ids 1 to 12", AUDIT, NOW)
        (row,) = held.audit()
        assert (row["ACTION"], row["TARGET"], row["DETAIL"], row["REASON"], row["CREATED_AT"]) == (
            "recover_take_in",
            12,
            "ids 1 to 12",
            AUDIT.reason,
            NOW,
        )

    def test_recovery_needs_the_lease(self, held: Store, another: Another, oracle: Oracle) -> None:
        """D-34: an instance without it writes nothing."""
        apply(held, 1, put(flight(7)))
        other, before = another(held), everything(oracle)
        for call in (
            lambda: other.raise_versions(1, AUDIT, NOW),
            lambda: other.republish([put(flight(7))], NOW),
            lambda: other.record("x", 1, None, AUDIT, NOW),
        ):
            with pytest.raises(Fenced):
                call()
        assert everything(oracle) == before
