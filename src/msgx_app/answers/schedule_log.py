"""The schedule log for people: what became of each package, what was odd about it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Final

from attrs import field, frozen

from msgx_core.model.schedule import Roster, SnapshotFlag, SnapshotResult
from msgx_core.ports.operations import Row, Views
from msgx_core.rules.operation_day import operation_day
from msgx_core.rules.policy import Policy

_DAY_MISMATCH: Final = SnapshotFlag.DAY_MISMATCH.value
_ROLLED_BACK: Final = SnapshotResult.ROLLED_BACK.value
_FROM_MESSAGE: Final = ("STATE", "ERROR_CODE", "REASON", "DETAIL")


@frozen
class Oddity:
    """Rows with one thing odd about them; `kind` and `name` are those of `advice`."""

    kind: str
    name: str
    flag: str | None
    rows: list[Row] = field(factory=list)


@frozen
class LoggedDay:
    """Rows of one operation day, newest first, and its roster now; `day` None: what covers no whole day."""

    day: date | None
    roster: Roster | None
    rows: Sequence[Row]


def with_reasons(rows: Iterable[Row], store: Views) -> list[Row]:
    """The rows; those of a package that was refused with `STATE`, `ERROR_CODE`, `REASON` and `DETAIL` of
    its message, as long as that is kept."""
    known: dict[int, Mapping[str, Any]] = {}
    found: list[Row] = []
    for row in rows:
        if row["RESULT"] == _ROLLED_BACK:
            msg_id = row["MSG_ID"]
            if msg_id not in known:
                known[msg_id] = store.message(msg_id) or {}
            said = known[msg_id]
            found.append({**row, **{name: said[name] for name in _FROM_MESSAGE if said.get(name)}})
        else:
            found.append(row)
    return found


def oddities(rows: Iterable[Row]) -> list[Oddity]:
    """What is odd, in the order of the rows. `rows` are those of `with_reasons`."""
    found: dict[tuple[str, str], Oddity] = {}
    for row in rows:
        for kind, name, flag in _odd(row):
            found.setdefault((kind, name), Oddity(kind, name, flag)).rows.append(row)
    return list(found.values())


def by_day(rows: Iterable[Row], store: Views, policy: Policy, wanted: date | None) -> list[LoggedDay]:
    """Rows in days, the latest day first, with the `wanted` one whatever is logged of it; then all others.

    Those have `FIRST_DAY` and `LAST_DAY`, between which their window lies, if it is known.
    """
    grouped: dict[date | None, list[Row]] = {} if wanted is None else {wanted: []}
    for row in rows:
        day = row.get("OPERATION_DAY")
        grouped.setdefault(day, []).append(row if day is not None else _with_days(row, policy))
    days = sorted((each for each in grouped if each is not None), reverse=True)
    found = [LoggedDay(day, next(iter(store.rosters(day)), None), grouped[day]) for day in days]
    return [*found, LoggedDay(None, None, grouped[None])] if None in grouped else found


def _with_days(row: Row, policy: Policy) -> Row:
    start, end = row.get("SCOPE_START"), row.get("SCOPE_END")
    if start is None or end is None:
        return row
    return {**row, "FIRST_DAY": operation_day(start, policy), "LAST_DAY": operation_day(end, policy)}


def _odd(row: Row) -> list[tuple[str, str, str | None]]:
    """Advice and flag of each thing. What a package was refused for says more than its flag."""
    found: list[tuple[str, str, str | None]] = []
    reason = str(row.get("REASON", "")).partition(":")[0]
    for flag in row.get("FLAGS") or ():
        if flag != _DAY_MISMATCH:
            found.append(("alert", flag, flag))
        elif not reason:
            found.append(("flag", flag, flag))
    if reason:
        flag = _DAY_MISMATCH if _DAY_MISMATCH in (row.get("FLAGS") or ()) else None
        found.append(("reason", reason, flag))
    return found
