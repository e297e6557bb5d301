"""What is left of a run: every table, the cache, the bus, the mailbox and the archive, fit to be compared.

Times, attempts, durations, the epoch, the numbers of a job and the schedule log may differ, and duplicates
on the bus. Whether there is a time at all may not.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

State = dict[str, Any]
LEFT_OUT = frozenset({"PIPELINE_LOCK", "LEASE", "SCHD_SNAP_LOG", "ALEMBIC_VERSION"})
_TIMES = re.compile(r"_(AT|UNTIL)$|^SINCE$")
_COUNTS = frozenset({"ATTEMPTS", "BACKFILL_ATTEMPTS", "EPOCH"})
# Numbers of rows that nothing refers to; a sequence has gaps.
_NUMBERS = frozenset({"ALERT_ID", "AUDIT_ID"})
# The numbers of a job are those of its last run.
_OF_RUNS = {"OPS_JOB": frozenset({"COUNTS", "DETAIL"})}
_PARSED = frozenset({"PAYLOAD", "CONTENT"})


@frozen
class Sent:
    """A record on the bus."""

    topic: str
    key: str | None
    value: Any


def tables(rows: Mapping[str, Iterable[Mapping[str, Any]]]) -> State:
    """Rows by table, without what may differ."""
    return {
        name: sorted((_row(row, _OF_RUNS.get(name, frozenset())) for row in found), key=repr)
        for name, found in sorted(rows.items())
        if name not in LEFT_OUT
    }


def _row(row: Mapping[str, Any], of_runs: frozenset[str]) -> dict[str, Any]:
    left_out = _COUNTS | _NUMBERS | of_runs
    kept = {name: value for name, value in row.items() if name not in left_out}
    return {name: _value(name, value) for name, value in kept.items()}


def _value(name: str, value: Any) -> Any:
    if _TIMES.search(name):
        return value is not None
    if name in _PARSED:
        return timeless(json.loads(value) if isinstance(value, str) else value)
    return str(value) if value is not None and not isinstance(value, int | str) else value


def timeless(document: Any) -> Any:
    """A document without the time of its last change."""
    if isinstance(document, dict):
        return {key: value for key, value in document.items() if key != "UPDATED_AT"}
    return document


def undated(text: str) -> str:
    """A message without its `DTTM`."""
    return re.sub(r"<DTTM>\d+</DTTM>", "", text)


def bus(records: Iterable[Sent]) -> State:
    """Notices of each flight in order without repeats, full states; and whatever went back in order."""
    notices: defaultdict[str | None, list[Any]] = defaultdict(list)
    states: dict[tuple[int, int], Any] = {}
    newest: defaultdict[tuple[str, Any], int] = defaultdict(int)
    back: list[str] = []
    for record in records:
        flat = [record.value] if "SCHD" not in record.value else record.value["SCHD"]["FLTR"]
        for one in flat:
            at = (record.topic, one["FLID"])
            if one["STATE_VERSION"] < newest[at]:
                back.append(f"{at}: {one['STATE_VERSION']} after {newest[at]}")
            newest[at] = max(newest[at], one["STATE_VERSION"])
            if "SCHD" in record.value:
                states[one["FLID"], one["STATE_VERSION"]] = timeless(one)
            elif timeless(one) not in notices[record.key]:
                notices[record.key].append(timeless(one))
    return {"notices": dict(notices), "states": states, "went back": back}


def difference(found: State, expected: State) -> list[str]:
    """What is not the same, one line for each."""
    lines: list[str] = []
    for name in sorted({**found, **expected}, key=str):
        one, other = found.get(name), expected.get(name)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            lines += [f"{name}/{line}" for line in difference(one, other)]
        elif isinstance(one, list) and isinstance(other, list):
            lines += [f"{name}: {_shown(x)} is there" for x in one if x not in other]
            lines += [f"{name}: {_shown(x)} is not there" for x in other if x not in one]
            if not any(line.startswith(f"{name}:") for line in lines):
                lines.append(f"{name}: {len(one)} instead of {len(other)}, or in another order")
        else:
            lines.append(f"{name}: {_shown(one)} instead of {_shown(other)}")
    return lines


def _shown(value: Any) -> str:
    return repr(value)[:700]
