"""Store suite: whatever a flight holds comes back as it was, and the tables say the same."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_core.model.change import FlightQuery
from msgx_core.model.flight import FieldValue, FlightState, FlightStatus
from msgx_core.ports import Store
from msgx_core.testing.builders import DAY, NOW, apply, flight, put
from msgx_core.testing.store_contract import Another, Oracle, StoreContract
from msgx_core.testing.strategies import FLIDS, INSTANTS, any_fields

HYPOTHESIS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
MAX_FLID = 999_999_999_999


def _as_stored(fields: Mapping[str, FieldValue]) -> dict[str, Any]:
    return {tag: [dict(e) for e in v] if isinstance(v, tuple) else v for tag, v in fields.items()}


class RoundTripContract(StoreContract):
    """Lossless flights."""

    @HYPOTHESIS
    @given(
        fields=any_fields(),
        deleted=st.booleans(),
        sodt_at=st.none() | INSTANTS,
        touched_at=INSTANTS,
        odd=FLIDS,
    )
    def test_a_flight_comes_back_as_it_was(
        self,
        held: Store,
        oracle: Oracle,
        fields: dict[str, FieldValue],
        deleted: bool,
        sodt_at: datetime | None,
        touched_at: datetime,
        odd: int,
    ) -> None:
        """R-008, R-102, D-30: every tag, kind and text, instants to the microsecond."""
        msg_id = 1 + max(held.counts().messages.values(), default=0)
        before = held.flight(odd)
        state = FlightState(
            flid=odd,
            status=FlightStatus.DELETED if deleted else FlightStatus.ACTIVE,
            version=1 if before is None else before.version + 1,
            operation_day=DAY,
            fields=fields,
            last_msg_id=msg_id,
            created_at=NOW,
            updated_at=touched_at,
            sodt_at=sodt_at,
        )
        apply(held, msg_id, put(state))
        assert oracle.content(odd) == _as_stored(fields)
        read = held.read(FlightQuery(flids=frozenset({odd}))).flights[odd]
        # Earlier examples may have left children.
        assert evolve(read, mafl=()) == state
        assert list(read.fields) == list(fields)

    def test_the_kinds_of_values_are_told_apart(self, held: Store, another: Another) -> None:
        """D-30: a number is no text, an empty text is no absence, an element is no collection."""
        fields: dict[str, FieldValue] = {
            "FLNO": "7",
            "MAID": 7,
            "FDIV": {"DDES": "", "DDIR": "D"},
            "GTDT": ({"GTNO": "1", "GATE": ""}, {"GATE": "A1"}, {"GATE": "A1"}),
            "REMC": "",
        }
        apply(held, 1, put(flight(5, fields=fields)))
        found = another(held).flight(5)
        assert found is not None
        assert dict(found.fields) == fields
        assert isinstance(found.fields["MAID"], int)
        assert isinstance(found.fields["FLNO"], str)

    def test_the_largest_flight_number(self, held: Store) -> None:
        """H-45: twelve digits."""
        apply(held, 1, put(flight(MAX_FLID, MAID=MAX_FLID - 1, TAID=MAX_FLID)))
        found = held.flight(MAX_FLID)
        assert found is not None
        assert found.main_flid == MAX_FLID - 1

    def test_events_carry_their_text_unchanged(self, held: Store) -> None:
        """D-30: payloads are written to the bus as they were decided."""
        notice, document = '{"FLID":5,"CHANGED":["备注"]}', '{"FLID":5,"REMC":"天气 \\"雷雨\\""}'
        apply(held, 1, put(flight(5), notice=notice, document=document))
        (event,) = held.message_events(1)
        assert event["PAYLOAD"] == {"FLID": 5, "CHANGED": ["备注"]}
        assert [row["PAYLOAD"]["REMC"] for row in held.events(target="KAFKA:schd")] == ['天气 "雷雨"']
