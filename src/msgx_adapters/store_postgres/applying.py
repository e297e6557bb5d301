"""Steps ① and ③ (D-01, D-02), each one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import attrs

from msgx_adapters.store_postgres.flights import Flights, one_flight
from msgx_adapters.store_postgres.reference import reference_json
from msgx_adapters.store_postgres.session import Role, alert_objects, alerts_json, json_of
from msgx_adapters.store_postgres.values import stamp
from msgx_core.model.alert import Alert
from msgx_core.model.change import Change, FlightPut
from msgx_core.model.request import FailRequest, RequestEffect
from msgx_core.model.schedule import SenderMark, SnapshotLogRow

_SENDER = tuple(each.name for each in attrs.fields(SenderMark))


class ApplyingRole(Role):
    """The writes of `ports.store.Effects`."""

    def apply(self, change: Change) -> int:
        """① Write all of it; returns `APPLY_NO`. `Conflict` when something is not as it was read."""
        shared = {
            "expiry_s": self.lease_expiry_s,
            "msg_id": change.msg_id,
            "at": change.at,
            "coverage": change.coverage,
            "reason": change.outcome.reason,
            "detail": change.outcome.detail,
        }
        put = _only_put(change)
        if put is not None:
            sender = dict.fromkeys(_SENDER) if change.sender is None else _sender(change.sender)
            (row,) = self.fenced("apply_one", **shared, **one_flight(put), **sender)
            return int(row["APPLY_NO"])
        rest = _rest(change)
        (row,) = self.fenced(
            "apply",
            **shared,
            touched=[put.state.flid for put in change.flights] or None,
            rest=json_of(rest) if rest else None,
            **Flights.of(change.flights).parameters(),
        )
        return int(row["APPLY_NO"])

    def finish(self, msg_id: int, now: datetime) -> bool:
        """③ `SUCCEEDED` with write-back intent; closes the bound request. False: nothing written."""
        return bool(self.fenced("finish", msg_id=msg_id, now=now)[0]["DONE"])

    def log_snapshots(self, rows: Sequence[SnapshotLogRow]) -> None:
        """Append to the schedule log (D-16)."""
        if rows:
            self.fenced("log_snapshots", rows=json_of([_log_row(n, row) for n, row in enumerate(rows)]))

    def raise_alert(self, alert: Alert, now: datetime) -> None:
        """Append one alert; under our epoch when we have one."""
        alerts = alerts_json([alert])
        if self.epoch is None:
            self.write("insert_alert", alerts=alerts, now=now)
        else:
            self.fenced("raise_alert", alerts=alerts, now=now)


def _only_put(change: Change) -> FlightPut | None:
    """The put of a change that is nothing but one new version of a live flight; else None."""
    if len(change.flights) != 1:
        return None
    (put,) = change.flights
    plain = put.advanced and put.read_version is not None and put.document is not None
    more = (
        put.raw_sections is not None
        or change.rosters
        or change.roster_add
        or change.roster_remove
        or change.reference
        or change.request is not None
        or change.alerts
    )
    return put if plain and not more else None


def _sender(mark: SenderMark) -> dict[str, Any]:
    return {name: getattr(mark, name) for name in _SENDER}


def _rest(change: Change) -> dict[str, Any]:
    """What is there beside flights and their events."""
    rest: dict[str, Any] = {}
    sections = [put for put in change.flights if put.raw_sections is not None]
    if sections:
        rest["sections"] = [{"flid": put.state.flid, "sections": put.raw_sections} for put in sections]
    if change.rosters:
        rest["rosters"] = [
            {"day": r.day.isoformat(), "read": r.read_version, "flids": sorted(r.flids)}
            for r in change.rosters
        ]
    if change.roster_add or change.roster_remove:
        rest["remove"] = sorted(change.roster_remove)
        rest["add"] = [{"flid": flid, "day": day.isoformat()} for flid, day in change.roster_add.items()]
    if change.reference:
        rest["reference"] = reference_json(change.reference)
    if change.request is not None:
        rest["request"] = _request(change.request)
    if change.sender is not None:
        rest["sender"] = attrs.asdict(change.sender, recurse=False)
    if change.alerts:
        rest["alerts"] = alert_objects(change.alerts)
    return rest


def _request(effect: RequestEffect) -> dict[str, Any]:
    bound = {"id": effect.request_id}
    return {**bound, "reason": effect.reason} if isinstance(effect, FailRequest) else bound


def _log_row(number: int, row: SnapshotLogRow) -> dict[str, object]:
    values = {
        **attrs.asdict(row, recurse=False),
        "n": number,
        "result": row.result.value,
        "flags": [flag.value for flag in row.flags],
        "operation_day": None if row.operation_day is None else row.operation_day.isoformat(),
    }
    instants = {name: value for name, value in values.items() if isinstance(value, datetime)}
    return {**values, **{name: stamp(value) for name, value in instants.items()}}
