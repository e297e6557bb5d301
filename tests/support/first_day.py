"""The sample day: 28 messages in order, and what must come of them on an empty system."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from attrs import frozen

from msgx_core.rules.values import format_time, parse_time

FOLDER = Path(__file__).parent.parent / "data" / "first-day"

# name of the message: state, error code, reason. `<08>` is the id of that message.
FATES: Mapping[str, tuple[str, str | None, str | None]] = {
    "01-arpt-dnld": ("SUCCEEDED", None, None),
    "02-arpt-add": ("SUCCEEDED", None, None),
    "03-arpt-upd": ("SUCCEEDED", None, None),
    "04-arpt-del": ("SUCCEEDED", None, None),
    "05-clst-recs-mismatch": ("DEAD", "PROTOCOL", "recs-mismatch:1!=2"),
    "06-rsta-gate-down": ("SUCCEEDED", None, None),
    "07-schd-window": ("SUCCEEDED", None, None),
    "08-flop-gtdt": ("SUCCEEDED", None, None),
    "09-flop-gtdt-seqn-again": ("SKIPPED", None, "duplicate-of:<08>"),
    "10-flop-ckdt-none": ("SUCCEEDED", None, None),
    "11-flop-estt": ("SKIPPED", None, "unsupported"),
    "12-flop-unknown-flight": ("SUCCEEDED", None, None),
    "13-adft": ("SUCCEEDED", None, None),
    "14-adft-sets-only": ("SUCCEEDED", None, None),
    "15-schs-season": ("SKIPPED", None, "unsupported"),
    "16-schd-duplicate-flid": ("DEAD", "PROTOCOL", "duplicate-flid:700102"),
    "17-schd-other-day": ("DEAD", "PROTOCOL", "SAME_FLID_ACROSS_OPERATION_DAYS"),
    "18-schd-clears": ("SUCCEEDED", None, None),
    "19-fdel-child": ("SUCCEEDED", None, None),
    "20-fdel-again": ("SUCCEEDED", None, "already-gone"),
    "21-flop-deleted": ("SKIPPED", None, "flight-deleted"),
    "22-not-xml": ("DEAD", "MALFORMED", "not-well-formed"),
    "23-entity-bomb": ("DEAD", "MALFORMED", "doctype-not-allowed"),
    "24-bad-time": ("DEAD", "MALFORMED", "bad-time:STST"),
    "25-overflow": ("DEAD", "PROTOCOL", "collection-overflow:PSDT"),
    "26-resp-unmatched": ("SKIPPED", None, "unmatched-response"),
    "27-dely-two": ("SUCCEEDED", None, None),
    "28-dely-none": ("SUCCEEDED", None, None),
}

# FLID: values of the full state; None is an absent key, a list names the first keys of a collection.
FLIGHTS: Mapping[int, Mapping[str, Any]] = {
    700101: {
        "STATE": "ACTIVE",
        "STATE_VERSION": 4,
        "OPERATION_DAY": date(2027, 3, 14),
        "STND": "215",
        "GTDT": ["B09", "B10"],
        "CKDT": [],
        "ROUT": ["KMG"],
        "MAFL": [],
    },
    700102: {
        "STATE": "ACTIVE",
        "STATE_VERSION": 2,
        "OPERATION_DAY": date(2027, 3, 14),
        "STND": None,
        "CLDT": [],
        "ROUT": [],
        "RENO": "B1234",
    },
    700103: {"STATE": "DELETED", "STATE_VERSION": 2, "OPERATION_DAY": date(2027, 3, 14), "MAID": 700101},
    700104: {
        "STATE": "ACTIVE",
        "STATE_VERSION": 3,
        "OPERATION_DAY": date(2027, 3, 14),
        "REMC": "首航 welcome",
        "DELY": [],
    },
    700105: {
        "STATE": "ACTIVE",
        "STATE_VERSION": 2,
        "OPERATION_DAY": date(2027, 3, 15),
        "ACFT": "73F",
        "RENO": "B7788",
    },
    700900: {"STATE": "ACTIVE", "STATE_VERSION": 1, "OPERATION_DAY": None, "PSDT": ["215"]},
}
FIRST_KEYS = {"GTDT": "GATE", "CKDT": "CHKC", "CLDT": "BELT", "PSDT": "PSST", "ROUT": "APCD", "DELY": "CODE"}
FIRST_KEYS["MAFL"] = "FLID"

REFERENCE: Mapping[str, list[str]] = {"ARPT": ["HKG", "SIN"], "CLST": [], "RSTA": ["GATE/B07"]}
EVENTS: Mapping[int, int] = {700101: 4, 700102: 2, 700103: 2, 700104: 3, 700105: 2, 700900: 1}
LAST_EVENTS: Mapping[int, Mapping[str, Any]] = {
    700103: {"KIND": "DELETE", "DELETED": True, "REASON": "FDEL", "STATE_VERSION": 2},
    700101: {"KIND": "UPSERT", "STATE_VERSION": 4, "CHANGED": ["MAFL"]},
}
ALERTS: list[tuple[str, str]] = [("SAME_FLID_ACROSS_OPERATION_DAYS", "17-schd-other-day")]
SNAPSHOTS: list[tuple[str, str, tuple[str, ...]]] = [
    ("07-schd-window", "COMMITTED", ()),
    ("16-schd-duplicate-flid", "ROLLED_BACK", ()),
    ("17-schd-other-day", "ROLLED_BACK", ("DAY_MISMATCH",)),
    ("18-schd-clears", "COMMITTED", ()),
]
ROSTERS: Mapping[date, set[int]] = {date(2027, 3, 14): {700101, 700102, 700104}}


@frozen
class Shift:
    """How a variant of the day differs from the sample; the expected results move along."""

    flid: int = 0
    seqn: int = 0
    days: int = 0
    minutes: int = 0

    def day(self, day: date | None) -> date | None:
        """An operation day of the variant."""
        return None if day is None else day + timedelta(days=self.days)

    def text(self, raw: str) -> str:
        """A message of the variant."""
        for pattern, change in self._changes():
            raw = re.sub(pattern, change, raw)
        return raw

    def _changes(self) -> list[tuple[str, Callable[[re.Match[str]], str]]]:
        by = timedelta(days=self.days, minutes=self.minutes)

        def moved_time(match: re.Match[str]) -> str:
            local = parse_time(match[0])
            return match[0] if local is None else format_time(local + by)

        def moved_dttm(match: re.Match[str]) -> str:
            return f"{datetime.strptime(match[1], '%Y%m%d%H%M%S') + by:<DTTM>%Y%m%d%H%M%S}"

        return [
            (r"\d\d[A-Z]{3}\d{6}", moved_time),
            (r"<DTTM>(\d{14})", moved_dttm),
            (r"<SEQN>(\d+)", lambda m: f"<SEQN>{int(m[1]) + self.seqn}"),
            (r"<(FLID|MAID)>(0*)(\d+)", lambda m: f"<{m[1]}>{m[2]}{int(m[3]) + self.flid}"),
        ]


def messages(shift: Shift | None = None) -> list[tuple[str, bytes]]:
    """Names and bytes in order."""
    shift = Shift() if shift is None else shift
    return [(p.stem, shift.text(p.read_text("utf-8")).encode()) for p in sorted(FOLDER.glob("*.xml"))]


def matches(document: Mapping[str, Any], expected: Mapping[str, Any], shift: Shift) -> list[str]:
    """What of a full state is not as expected; empty when it is right."""
    wrong = []
    for key, value in expected.items():
        found, wanted = document.get(key), value
        if isinstance(value, list):
            found = [item[FIRST_KEYS[key]] for item in found or ()]
        elif key == "OPERATION_DAY" and value is not None:
            wanted = f"{shift.day(value)}"
        elif key == "MAID":
            wanted = value + shift.flid
        if found != wanted:
            wrong.append(f"{key}: {found!r}, expected {wanted!r}")
    return wrong
