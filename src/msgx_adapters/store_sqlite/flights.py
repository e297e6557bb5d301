"""Flights, their raw sections and their events, set-wise inside a running ①."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgx_adapters.store_sql.documents import dump_fields, dump_list
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.session import SQL
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.errors import Conflict
from msgx_core.model.change import Change, FlightPut


def write(db: Connection, change: Change, epoch: int) -> None:
    """Put every flight where its version still is the one that was read, else `Conflict`."""
    advanced = [put for put in change.flights if put.advanced]
    _each(db, "insert_flight", [p for p in advanced if p.read_version is None], epoch)
    _each(db, "update_flight", [p for p in advanced if p.read_version is not None], epoch)
    _each(db, "touch_flight", [p for p in change.flights if not p.advanced], epoch)
    _raw_sections(db, [put for put in change.flights if put.raw_sections is not None])


def advance(db: Connection, puts: Sequence[FlightPut], epoch: int) -> None:
    """Put flights that are there and step, each where its version still is the one read, else `Conflict`."""
    _each(db, "update_flight", puts, epoch)


def _each(db: Connection, statement: str, puts: Sequence[FlightPut], epoch: int) -> None:
    if puts and db.run_many(SQL[statement], (_values(put, epoch) for put in puts)) != len(puts):
        raise Conflict(f"{statement}: one of {len(puts)} flights is not as it was read")


def _values(put: FlightPut, epoch: int) -> dict[str, Any]:
    state = put.state
    if not put.advanced:
        return {
            "flid": state.flid,
            "last_msg_id": state.last_msg_id,
            "read_version": put.read_version,
            "epoch": epoch,
        }
    flno = state.fields.get("FLNO")
    return {
        "flid": state.flid,
        "state": state.status.value,
        "version": state.version,
        "day": day_text(state.operation_day),
        "sodt_at": stamp(state.sodt_at),
        "maid": state.fields.get("MAID"),
        "flno": flno if isinstance(flno, str) else None,
        "content": dump_fields(state.fields),
        "last_msg_id": state.last_msg_id,
        "created_at": stamp(state.created_at),
        "updated_at": stamp(state.updated_at),
        "read_version": put.read_version,
        "epoch": epoch,
    }


def _raw_sections(db: Connection, puts: Sequence[FlightPut]) -> None:
    if not puts:
        return
    db.run(SQL["clear_raw_sections"], {"flids": dump_list([put.state.flid for put in puts])})
    sections = [
        {"flid": put.state.flid, "tag": tag, "xml": xml}
        for put in puts
        for tag, xml in (put.raw_sections or {}).items()
    ]
    if sections:
        db.run_many(SQL["insert_raw_section"], sections)


def write_notices(
    db: Connection, change: Change, notices: Sequence[FlightPut], last_id: int, epoch: int
) -> None:
    """One `msg` event each, with the ids after `last_id`, in order (D-27)."""
    if notices:
        payloads = ((put, put.notice) for put in notices)
        db.run_many(SQL["insert_notice"], _events(change, payloads, last_id, epoch))


def write_documents(
    db: Connection, change: Change, advanced: Sequence[FlightPut], last_id: int, epoch: int
) -> None:
    """Replace or remove the one `schd` row of each flight, with the ids after `last_id` (D-29)."""
    gone = [put.state.flid for put in advanced if put.document is None]
    if gone:
        db.run(SQL["drop_documents"], {"flids": dump_list(gone)})
    if len(gone) < len(advanced):
        payloads = ((put, put.document) for put in advanced if put.document is not None)
        db.run_many(SQL["put_document"], _events(change, payloads, last_id, epoch))


def _events(
    change: Change, payloads: Iterable[tuple[FlightPut, str | None]], last_id: int, epoch: int
) -> Iterable[dict[str, Any]]:
    at = stamp(change.at)
    for event_id, (put, payload) in enumerate(payloads, start=last_id + 1):
        yield {
            "event_id": event_id,
            "flid": put.state.flid,
            "version": put.state.version,
            "msg_id": change.msg_id,
            "payload": payload,
            "now": at,
            "epoch": epoch,
        }
