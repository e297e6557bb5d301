"""The JSON of flights, events and reference records: one shape everywhere, never a null."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.change import FlightPut
from msgx_core.model.flight import Child, DeleteReason, Fields
from msgx_core.model.message import Node
from msgx_core.model.reference import RefRecord
from msgx_core.model.sis import MODEL_TAGS
from msgx_core.rules.policy import TimeFormat
from msgx_core.rules.render import (
    flight_document,
    is_newer,
    node_document,
    notice_document,
    put_documents,
    reference_document,
    to_json,
    utc_text,
    with_event_id,
)
from msgx_core.testing.strategies import fields
from tests.unit.core.build import DAY, NOW, POLICY, flight

ISO = evolve(POLICY, time_format=TimeFormat.ISO8601)
MAFL = [Child(8, "QX8"), Child(9, None)]


def nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(nulls, value.values()))
    return any(map(nulls, value)) if isinstance(value, list) else value is None


def as_sent(value: Any) -> Any:
    return [dict(e) for e in value] if isinstance(value, tuple) else value


@given(fields(), st.sampled_from([POLICY, ISO]), st.booleans(), st.sampled_from([None, DAY]))
def test_a_full_state_has_every_value_and_no_null(held: Fields, policy: Any, listed: bool, day: Any) -> None:
    """D-30, R-364: an absent key means no value; keys are SIS tags in table order."""
    state = evolve(flight(7, day=day, mafl=MAFL if listed else ()), fields=held)
    document = json.loads(to_json(flight_document(state, policy)))
    assert not nulls(document)
    assert [key for key in document if key in MODEL_TAGS] == list(held)
    assert set(document) - set(held) - {"OPERATION_DAY", "MAFL"} == {
        "FLID", "STATE", "STATE_VERSION", "UPDATED_AT", "LAST_MSG_ID"
    }  # fmt: skip
    assert ("MAFL" in document, "OPERATION_DAY" in document) == (listed, day is not None)
    if policy is POLICY:
        assert {tag: document[tag] for tag in held} == {tag: as_sent(value) for tag, value in held.items()}


def test_ids_and_versions_are_numbers_and_the_rest_is_text() -> None:
    """D-30: `FLID`, `MAID`, `TAID`, ids and versions; numbers of the wire stay text."""
    state = flight(7, version=3, mafl=MAFL, MAID=700101, TAID=5, MAXP="0180", LBWT="1.50", SODT="14MAR271200")
    document = flight_document(state, POLICY)
    expected: dict[str, object] = {"FLID": 7, "STATE_VERSION": 3, "LAST_MSG_ID": 1, "MAID": 700101, "TAID": 5}
    expected |= {"MAXP": "0180", "LBWT": "1.50", "SODT": "14MAR271200", "OPERATION_DAY": "2027-03-14"}
    assert {key: document[key] for key in expected} == expected
    assert document["MAFL"] == [{"FLID": 8, "FLNO": "QX8"}, {"FLID": 9}]


def test_times_may_be_iso_8601() -> None:
    """D-30: with the offset of the wire's zone, in scalars, elements and attributes; text and codes stay."""
    state = flight(
        SODT="14MAR271200",
        FTSS="14MAR271200",
        GTDT=({"GATE": "B1", "PGOT": "14MAR271130"},),
        DELY=({"CODE": "14MAR271200", "STRT": "14MAR271300", "DURA": "0200"},),
        FDIV={"DDES": "KMG"},
        MAID=5,
    )
    document = flight_document(state, ISO)
    assert document["SODT"] == "2027-03-14T12:00:00+08:00"
    assert document["FTSS"] == "14MAR271200"
    assert document["GTDT"] == [{"GATE": "B1", "PGOT": "2027-03-14T11:30:00+08:00"}]
    assert document["DELY"] == [{"CODE": "14MAR271200", "STRT": "2027-03-14T13:00:00+08:00", "DURA": "0200"}]
    assert (document["FDIV"], document["MAID"]) == ({"DDES": "KMG"}, 5)


def test_json_keeps_chinese_and_is_compact() -> None:
    """R-068, wire: text may hold Chinese; bytes are UTF-8."""
    assert to_json({"REMC": "首航", "N": [1]}) == '{"REMC":"首航","N":[1]}'
    assert with_event_id(12, '{"REMC":"首航"}') == '{"EVENT_ID":12,"REMC":"首航"}'.encode()


@pytest.mark.parametrize("reason", [None, *DeleteReason])
@pytest.mark.parametrize("day", [None, DAY])
def test_notices_and_tombstones(reason: DeleteReason | None, day: Any) -> None:
    """D-28, R-351, R-367: always FLID, KIND, STATE_VERSION, UPDATED_AT, MSG_ID; never a null value."""
    state = flight(7, day=day, version=4)
    notice = notice_document(state, changed=("STND",), generation=6, reason=reason)
    expected: dict[str, object] = {"FLID": 7, "STATE_VERSION": 4, "UPDATED_AT": utc_text(NOW), "MSG_ID": 1}
    expected |= {"OPERATION_DAY": "2027-03-14", "DAY_VERSION": 6} if day else {}
    if reason is None:
        expected |= {"KIND": "UPSERT", "CHANGED": ["STND"]}
    else:
        expected |= {"KIND": "DELETE", "DELETED": True, "REASON": reason.value}
    assert notice == expected


def test_a_deleted_flight_has_a_notice_and_no_document() -> None:
    """D-29, R-361: deletion goes through `msg` only."""
    gone = FlightPut(flight(7, live=False, STND="2"), 1, reason=DeleteReason.FDEL)
    notice, document = put_documents(gone, 1, POLICY)
    assert (json.loads(notice)["REASON"], document) == ("FDEL", None)
    assert put_documents(FlightPut(flight(7, STND="2"), 1), 1, POLICY)[1] is not None


@given(st.none() | st.integers(1, 9), st.integers(1, 9))
def test_a_consumer_takes_only_what_is_newer(held: int | None, coming: int) -> None:
    """R-351: equal is not newer; nothing held: everything is."""
    assert is_newer(held, coming) == (held is None or coming > held)
    assert not is_newer(coming, coming)


@given(st.lists(st.integers(1, 50), min_size=1))
def test_any_order_of_delivery_ends_with_the_newest(versions: list[int]) -> None:
    """R-351, R-369: at-least-once and out of order."""
    held = None
    for version in versions:
        held = version if is_newer(held, version) else held
    assert held == max(versions)


@given(st.datetimes(datetime(1900, 1, 1)), st.integers(-12, 14))
def test_instants_are_written_in_utc(moment: datetime, hours: int) -> None:
    """D-30, H-33: fixed width, whatever zone the instant came in, so that text order is time order."""
    instant = moment.replace(tzinfo=UTC)
    text = utc_text(instant.astimezone(timezone(timedelta(hours=hours))) if moment.year < 9000 else instant)
    assert datetime.fromisoformat(text) == instant
    assert len(text) == len("2027-03-14T06:00:00.000000Z")


RECORD = Node(
    "ARPT",
    children=(
        Node("ITCD", "KMG"),
        Node("ABBR", "昆明", {"CODE": "ABR2"}),
        Node("REGC", "1"),
        Node("REGC", ""),
        Node("SUBC", children=(Node("CODE", "X"), Node("NONE"))),
    ),
)


def test_a_reference_record_for_people() -> None:
    """D-40, R-418: attributes as `@`, repeats as arrays, an empty tag is an empty text and not absence."""
    document = reference_document(RefRecord("ARPT", "KMG", RECORD, 5, NOW))
    assert document == {
        "RTYPE": "ARPT",
        "RKEY": "KMG",
        "RECORD": {
            "ITCD": "KMG",
            "ABBR": {"@CODE": "ABR2", "#text": "昆明"},
            "REGC": ["1", ""],
            "SUBC": {"CODE": "X", "NONE": ""},
        },
        "MSG_ID": 5,
        "UPDATED_AT": utc_text(NOW),
    }


def test_no_text_of_a_reference_record_is_lost() -> None:
    """wire (Reference records): text before a child and text after it are both there."""
    mixed = Node("NOTE", "before", children=(Node("B", "bold"), Node("#text", "after")))
    text = to_json(node_document(mixed))
    assert [word for word in ("before", "bold", "after") if word not in text] == []
