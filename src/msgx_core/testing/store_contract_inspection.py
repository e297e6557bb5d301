"""Store suite: what verification reads, as it stands in the tables (D-36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import evolve

from msgx_core.model.change import RosterReplace
from msgx_core.model.flight import FieldValue
from msgx_core.model.message import Node
from msgx_core.model.reference import PutRecord, RefRecord, RemoveRecord, ReplaceCategory
from msgx_core.model.request import RequestSlot
from msgx_core.model.schedule import SenderMark
from msgx_core.ports import Archived, Store
from msgx_core.ports.inspection import (
    AUDITS,
    COUNTERS,
    EVENTS,
    FLIGHTS,
    FLOORS,
    GENERATIONS,
    MEMBERS,
    MESSAGES,
    PINS,
    REFERENCES,
    SECTIONS,
    SENDERS,
    WHOLE_TABLES,
    StoredRow,
    Table,
    Unreadable,
)
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NEXT_DAY,
    NOW,
    apply,
    binding,
    close,
    dead,
    enqueue,
    flight,
    later,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Oracle, StoreContract

GATES = ({"GTNO": "1", "GATE": "A1"}, {"GTNO": "2", "GATE": "A2"})


def rows(store: Store, table: Table) -> list[StoredRow]:
    """All rows of a table, in the order of their text."""
    return sorted(store.stored(table), key=repr)


def without(row: StoredRow, *names: str) -> dict[str, Any]:
    """A row without some of its columns."""
    return {name: value for name, value in row.items() if name not in names}


class InspectionContract(StoreContract):
    """`ports.inspection.Inspection`."""

    @pytest.fixture
    def filled(self, held: Store) -> Store:
        """Something in every table."""
        state = flight(7, FLNO="QX7", MAID=9, fields={"GTDT": GATES}, sodt_at=later(60))
        nodes = {key: Node("GLST", "", {}, (Node("GCOD", key),)) for key in "BAC"}
        records = [RefRecord("GLST", key, node, 1, NOW) for key, node in nodes.items()]
        enqueue(held, 1)
        held.bind(binding(1), NOW)
        apply(
            held,
            1,
            put(state, raw_sections={"SRVT": "<SRVT/>"}),
            put(flight(8)),
            rosters=(RosterReplace(DAY, 0, frozenset({7})),),
            roster_add={8: NEXT_DAY},
            reference=(ReplaceCategory("GLST", tuple(records)),),
            sender=SenderMark("AODB", 5, "20270314143000", None, 3, None),
            coverage='{"days":["2027-03-14"]}',
        )
        held.finish(1, later(1))
        held.pin("policy.ab", "{}")
        held.archive_flights([Archived(8, 1, 1)], [], later(2))
        held.raise_versions(10, AUDIT, later(3))
        held.record("other", 1, None, AUDIT, later(3))
        held.record("republish", 2, None, AUDIT, later(4))
        return held

    def test_an_empty_store(self, store: Store) -> None:
        """D-36: nothing but its counters."""
        for table in WHOLE_TABLES:
            assert table is COUNTERS or list(store.stored(table)) == []
        assert list(store.stored_unapplied()) == list(store.stored_documents()) == []
        assert list(store.strays()) == []
        assert list(store.stored_applied(0, 10)) == list(store.stored_notices([1])) == []
        assert store.stored_message(1) is store.stored_flight(7) is None
        assert list(store.stored_notices([])) == list(store.stored_versions(7)) == []

    def test_a_flight_as_it_was_written(self, filled: Store) -> None:
        """D-36: every column in its kind, fields whole and in their order, and what is kept beside them."""
        (row,) = rows(filled, FLIGHTS)
        assert row == filled.stored_flight(7)
        beside = {name: row[name] for name in ("MAID", "FLNO") if name in row}
        assert beside in ({}, {"MAID": 9, "FLNO": "QX7"})
        assert without(row, "MAID", "FLNO", "TAG_ORDER") == {
            "FLID": 7,
            "STATE": "ACTIVE",
            "STATE_VERSION": 11,
            "OPERATION_DAY": DAY,
            "SODT_AT": later(60),
            "CONTENT": {"FLNO": "QX7", "MAID": 9, "GTDT": GATES},
            "LAST_MSG_ID": 1,
            "CREATED_AT": NOW,
            "UPDATED_AT": NOW,
        }
        assert list(row["CONTENT"]) == ["FLNO", "MAID", "GTDT"]
        assert rows(filled, SECTIONS) == [{"FLID": 7, "TAG": "SRVT", "XML": "<SRVT/>"}]

    @pytest.mark.parametrize("tags", [["STND", "FLNO"], ["FDIV", "FLNO"], ["FLNO", "FRET", "STND"]])
    def test_fields_in_their_order(self, held: Store, tags: list[str]) -> None:
        """D-30, D-36: also elements without a key."""
        fields = {tag: {} if tag in ("FDIV", "FRET") else tag for tag in tags}
        apply(held, 1, put(flight(7, fields=fields)))  # type: ignore[arg-type]
        row = held.stored_flight(7)
        assert row is not None
        assert (row["CONTENT"], list(row["CONTENT"])) == (fields, tags)

    def test_the_keys_of_an_element_in_their_order(self, held: Store) -> None:
        """D-30, D-36: where a store says that it keeps it."""
        gates = ({"GATE": "A1", "GTNO": "1"}, {"GTNO": "2", "GATE": "A2"})
        fields: dict[str, FieldValue] = {"GTDT": gates}
        apply(held, 1, put(flight(7, fields=fields)))
        row = held.stored_flight(7)
        assert row is not None
        assert row["CONTENT"] == fields
        if held.keeps_element_order:
            assert [[*each] for each in row["CONTENT"]["GTDT"]] == [["GATE", "GTNO"], ["GTNO", "GATE"]]

    def test_events_without_their_message(self, filled: Store) -> None:
        """D-36: those of one that is not there, or was not applied; by id."""
        assert list(filled.stored_orphans()) == []
        enqueue(filled, 2)
        for msg_id in (3, 2):
            filled.republish([put(evolve(flight(7), version=11, last_msg_id=msg_id))], later(5))
        found = list(filled.stored_orphans())
        assert [(row["FLID"], row["MSG_ID"], row["STATUS"]) for row in found] == [
            (7, 3, "PENDING"),
            (7, 2, "PENDING"),
        ]
        assert all((row["ATTEMPTS"], row["UPDATED_AT"]) == (0, later(5)) for row in found)

    def test_what_is_beside_flights(self, filled: Store) -> None:
        """D-11, D-16, D-31, D-37, D-40: floors, rosters, senders, lists, settings, what people did."""
        assert rows(filled, FLOORS) == [{"FLID": 8, "STATE_VERSION": 12, "UPDATED_AT": later(2)}]
        assert rows(filled, GENERATIONS) == [
            {"OPERATION_DAY": DAY, "VERSION": 1, "LAST_MSG_ID": 1, "LAST_RECV_AT": NOW}
        ]
        assert rows(filled, MEMBERS) == [{"OPERATION_DAY": DAY, "FLID": 7}]
        (sender,) = rows(filled, SENDERS)
        assert (sender["SNDR"], sender["SEQN"], sender["SCHEDULE_DTTM"]) == ("AODB", 5, None)
        assert (sender["DNLD_RECS"], sender["UPDATED_AT"]) == (3, NOW)
        assert [(row["NAME"], row["VALUE"]) for row in rows(filled, PINS)] == [("policy.ab", "{}")]
        told = [(row["ACTION"], row["TARGET"], row["CREATED_AT"]) for row in rows(filled, AUDITS)]
        assert sorted(told) == [("recover_versions", 10, later(3)), ("republish", 2, later(4))]
        counters = {row["NAME"]: row["VALUE"] for row in filled.stored(COUNTERS)}
        assert (counters["apply_no"], counters["event_msg"], counters["event_schd"]) == (1, 12, 12)

    def test_the_highest_numbers_given_out(self, filled: Store) -> None:
        """D-27, D-32, D-36: of events that are there, and of requests whose sending has begun."""
        assert filled.given_out() == {"event_msg": 2, "event_schd": 1}
        asked = [filled.ask(request(slot, seqn="99"), AUDIT, NOW) for slot in RequestSlot]
        assert "outbound_seqn" not in filled.given_out()
        for n, made in enumerate(asked, 11):
            assert made is not None
            filled.begin_send(made.request_id, later(5))
            assert filled.given_out()["outbound_seqn"] == n

    def test_places_in_a_list(self, filled: Store) -> None:
        """IMP §13.3, D-40: a full list counts from 1, a new record comes last, who stays keeps its place."""
        places = {row["RKEY"]: row["ORDINAL"] for row in filled.stored(REFERENCES)}
        assert places == {"B": 1, "A": 2, "C": 3}
        (first,) = [row for row in filled.stored(REFERENCES) if row["RKEY"] == "B"]
        assert without(first, "ORDINAL") == {
            "RTYPE": "GLST",
            "RKEY": "B",
            "PAYLOAD": Node("GLST", "", {}, (Node("GCOD", "B"),)),
            "MSG_ID": 1,
            "UPDATED_AT": NOW,
        }
        made = [RefRecord("GLST", key, Node("GLST"), 2, NOW) for key in ("D", "A", "E")]
        apply(filled, 2, reference=(RemoveRecord("GLST", "C"), *map(PutRecord, made)))
        places = {row["RKEY"]: row["ORDINAL"] for row in filled.stored(REFERENCES)}
        assert places == {"B": 1, "A": 2, "D": 3, "E": 4}

    def test_messages_with_and_without_effects(self, filled: Store) -> None:
        """D-02, D-36: by their numbers, page by page; every column, NULL as None."""
        numbers = {msg_id: apply(filled, msg_id) for msg_id in (9, 3)}
        close(filled, skipped(), 5)
        close(filled, dead(), 4)
        enqueue(filled, 6)
        assert [row["MSG_ID"] for row in filled.stored_applied(-1, 10)] == [1, 9, 3]
        assert [row["MSG_ID"] for row in filled.stored_applied(numbers[9] - 1, 1)] == [9]
        assert [row["MSG_ID"] for row in filled.stored_unapplied()] == [4, 5, 6]
        row = filled.stored_message(1)
        assert row is not None
        assert row == filled.stored_applied(0, 1)[0]
        assert row.keys() | {"TOUCHED"} == {column.name for column in MESSAGES.columns}
        assert row.get("TOUCHED") in (None, [7, 8])
        wanted = {"STATE": "SUCCEEDED", "APPLY_NO": 1, "APPLIED_AT": NOW, "FINISHED_AT": later(1)}
        wanted |= {"RECEIVED_AT": None, "REASON": None, "TYPE": "FLOP", "RAW_DIGEST": "digest-1"}
        assert {name: row[name] for name in wanted} == wanted

    def test_events_with_their_text(self, filled: Store) -> None:
        """D-27, D-29: notices by message, documents by flight, payloads exactly as they were decided."""
        notices = filled.stored_notices([1, 99])
        assert [(row["EVENT_ID"], row["FLID"], row["STATE_VERSION"]) for row in notices] == [
            (1, 7, 1),
            (2, 8, 1),
        ]
        assert notices[0]["PAYLOAD"] == '{"FLID": 7, "STATE_VERSION": 1}'
        assert {row["CREATED_AT"] for row in notices} == {NOW}
        assert filled.stored_versions(7) == notices[:1]
        assert [row["EVENT_ID"] for row in filled.stored_versions(8)] == [2]
        (document,) = filled.stored_documents()
        assert document.keys() == {column.name for column in EVENTS.columns}
        assert (document["FLID"], document["MSG_ID"], document["PAYLOAD"]) == (7, 1, '{"FLID": 7, "N": 1}')

    def test_nothing_is_out_of_place(self, filled: Store) -> None:
        """D-36: no part of a flight without its flight."""
        apply(filled, 2, put(evolve(flight(7, msg_id=2), version=12, fields={"GTDT": GATES[:1]})))
        assert list(filled.strays()) == []

    def test_many_rows(self, held: Store) -> None:
        """D-36: page by page nothing is lost and nothing comes twice, negative and large numbers too."""
        ids = [-5, 0, *range(1, 1203), 2**40]
        apply(held, 1, *(put(flight(n)) for n in ids), roster_add=dict.fromkeys(ids, DAY))
        assert [row["FLID"] for row in held.stored(FLIGHTS)] == ids
        assert sorted(row["FLID"] for row in held.stored(MEMBERS)) == ids
        assert [row["FLID"] for row in held.stored_documents()] == ids
        assert [row["FLID"] for row in held.stored_notices([1])] == ids

    def test_what_cannot_be_read_is_handed_out(
        self, filled: Store, oracle: Oracle, damage: Mapping[str, str]
    ) -> None:
        """D-36: `damage` is a statement for each `TABLE.COLUMN` that can hold what cannot be read."""
        assert damage
        for place, sql in damage.items():
            name, _, column = place.partition(".")
            oracle.run(sql)
            (table,) = [each for each in WHOLE_TABLES if each.name == name]
            values = [row[column] for row in filled.stored(table)]
            assert any(_has_unreadable(value) for value in values), place
            for other in WHOLE_TABLES:
                list(filled.stored(other))


def _has_unreadable(value: Any) -> bool:
    inside = value.values() if isinstance(value, Mapping) else ()
    return isinstance(value, Unreadable) or any(isinstance(each, Unreadable) for each in inside)
