"""Flights as parameters of `APPLY`, and from rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from attrs import define, evolve, field

from msgx_adapters.store_postgres.session import json_of
from msgx_adapters.store_postgres.tables import DETAILS
from msgx_adapters.store_postgres.values import Texts
from msgx_adapters.store_sql import rows
from msgx_core.errors import Rejected
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import Child, Fields, FlightState
from msgx_core.model.sis import MODEL_TAGS, SINGLES

Row = Mapping[str, Any]

_PLACE = {tag: number for number, tag in enumerate(MODEL_TAGS)}


@define
class Flights:
    """The flight part of one `Change`: new rows, changed rows, rows that only get the message, and events."""

    new: list[dict[str, Any]] = field(factory=list)
    new_tags: set[str] = field(factory=set)
    old: list[dict[str, Any]] = field(factory=list)
    old_tags: set[str] = field(factory=set)
    same: list[FlightPut] = field(factory=list)
    notices: list[FlightPut] = field(factory=list)
    documents: list[FlightPut] = field(factory=list)
    gone: list[int] = field(factory=list)

    @classmethod
    def of(cls, puts: Iterable[FlightPut]) -> Flights:
        """Sort the puts of a change."""
        found = cls()
        for put in puts:
            if put.advanced:
                found._advance(put)
            else:
                found.same.append(put)
        return found

    def _advance(self, put: FlightPut) -> None:
        fields = put.state.fields
        if put.read_version is None:
            self.new.append(_columns(put, fields))
            self.new_tags |= DETAILS.keys() & fields.keys()
        else:
            tags = _replaced(put)
            kept = {tag: value for tag, value in fields.items() if tag in tags or tag not in DETAILS}
            # An empty list removes what is stored.
            self.old.append(_columns(put, {**dict.fromkeys(tags, ()), **kept}))
            self.old_tags |= tags
        if put.notice is not None:
            self.notices.append(put)
        if put.document is not None:
            self.documents.append(put)
        elif put.read_version is not None:
            self.gone.append(put.state.flid)

    def parameters(self) -> dict[str, Any]:
        """Those of the statement `apply` that are about flights."""
        return {
            "new": json_of(self.new) if self.new else None,
            "new_tags": sorted(self.new_tags),
            "old": json_of(self.old) if self.old else None,
            "old_tags": sorted(self.old_tags),
            "same": [put.state.flid for put in self.same] or None,
            "same_versions": [put.read_version for put in self.same],
            "same_last": [put.state.last_msg_id for put in self.same],
            **_events("notice", [(put.state, put.notice or "") for put in self.notices]),
            **_events("document", [(put.state, put.document or "") for put in self.documents]),
            "gone": self.gone or None,
        }


def one_flight(put: FlightPut) -> dict[str, Any]:
    """The parameters of `apply_one` that are about the flight: a new version of one that is there."""
    found = Flights.of([put])
    return {
        "flid": put.state.flid,
        "read": put.read_version,
        "version": put.state.version,
        "flight": json_of(found.old[0]),
        "tags": sorted(found.old_tags),
        "notice": put.notice,
        "document": put.document,
    }


def _events(name: str, events: Sequence[tuple[FlightState, str]]) -> dict[str, Any]:
    return {
        f"{name}_flids": [state.flid for state, _ in events],
        f"{name}_versions": [state.version for state, _ in events],
        f"{name}s": Texts([payload for _, payload in events]) if events else None,
    }


def _replaced(put: FlightPut) -> Set[str]:
    """Collections to write: those that changed; all of them where nothing is said to differ."""
    return DETAILS.keys() & set(put.changed) if put.changed else DETAILS.keys()


def _columns(put: FlightPut, fields: Mapping[str, Any]) -> dict[str, Any]:
    state = put.state
    return {
        **fields,
        "flid": state.flid,
        "read": put.read_version,
        "state": state.status.value,
        "version": state.version,
        "day": None if state.operation_day is None else state.operation_day.isoformat(),
        "sodt_at": None if state.sodt_at is None else state.sodt_at.isoformat(),
        "last": state.last_msg_id,
        "created": state.created_at.isoformat(),
        "updated": state.updated_at.isoformat(),
        "tags": _tag_order(state.fields),
    }


def _tag_order(fields: Fields) -> str | None:
    """The tags as they stand, where columns alone would not tell: another order, an element without a key."""
    try:
        places = [_PLACE[tag] for tag in fields]
    except KeyError as error:
        raise Rejected("store-rejected:unknown-tag", f"tag {error}") from error
    bare = any(tag in fields and not fields[tag] for tag in SINGLES)
    return " ".join(fields) if bare or places != sorted(places) else None


def states_of(found: Sequence[Row]) -> list[FlightState]:
    """Flights from rows of `FLIGHT_FULL`, in their order, without their `MAFL`."""
    return [_in_order(state, row["TAG_ORDER"]) for row, state in zip(found, rows.flights(found), strict=True)]


def _in_order(state: FlightState, order: str | None) -> FlightState:
    if order is None:
        return state
    return evolve(state, fields={tag: state.fields.get(tag, {}) for tag in order.split()})


def whole(found: Sequence[Row]) -> list[FlightState]:
    """Flights from rows of `FLIGHT_FULL`, with their `MAFL`."""
    children = [
        (row["FLID"], Child(flid, flno))
        for row in found
        if row["MAFL"] is not None
        for flid, flno in json.loads(row["MAFL"])
    ]
    return rows.with_mafl(states_of(found), children)
