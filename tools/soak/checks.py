"""What must hold at the end: each check says what is wrong, or nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from soak.traffic import Outcome, settled

_SHOWN = 5


def as_undisturbed(found: Outcome, expected: Outcome) -> list[str]:
    """Every message ended as with nothing in its way, each flight is what it would be (D-04, R-447)."""
    return [
        *_differences("message", found.fates, expected.fates),
        *_differences("flight", found.documents, expected.documents),
        *_differences("roster", found.rosters, expected.rosters),
        *_differences("category", found.references, expected.references),
        *([] if found.alerts == expected.alerts else _alerts(found.alerts, expected.alerts)),
    ]


def all_terminal(found: Outcome) -> list[str]:
    """Nothing waits any more (R-110)."""
    waiting = [msg_id for msg_id, (state, _, _) in found.fates.items() if state in ("PENDING", "FAILED")]
    return [f"messages that have not ended: {_some(waiting)}"] if waiting else []


def first_in_first_out(found: Outcome) -> list[str]:
    """Effects are in the order of the mailbox, each once (R-078, D-02)."""
    wrong = [b for a, b in zip(found.effects, found.effects[1:], strict=False) if b <= a]
    return [f"messages with an effect behind a later one's: {_some(wrong)}"] if wrong else []


def consecutive(event_ids: Sequence[int]) -> list[str]:
    """Event ids are 1, 2, 3 without a gap (D-27)."""
    wrong = sorted(set(range(1, len(event_ids) + 1)) ^ set(event_ids))
    if len(set(event_ids)) != len(event_ids):
        return ["an event id is there twice"]
    return [f"event ids that are missing or too many: {_some(wrong)}"] if wrong else []


def all_marked(marks: Mapping[int, str | None]) -> list[str]:
    """Every mailbox row has its processing time (R-131)."""
    missing = [msg_id for msg_id, mark in sorted(marks.items()) if mark is None]
    return [f"rows without a mark: {_some(missing)}"] if missing else []


def cache_equals_store(cached: Mapping[str, str], documents: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """The cache has exactly the live flights, as they are (D-31, INV-10)."""
    live = {f"msgx:flight:{flid}": doc for flid, doc in documents.items() if doc["STATE"] == "ACTIVE"}
    return _differences("cache key", {key: settled(json.loads(text)) for key, text in cached.items()}, live)


def bus_order(records: Iterable[tuple[str | None, bytes]], written: Mapping[int, int]) -> list[str]:
    """Every notice is on the topic; what is new of a flight comes in the order of ids (R-350, R-355).

    `written` is the version of each event id.
    """
    seen: dict[str | None, list[int]] = defaultdict(list)
    versions: dict[int, set[int]] = defaultdict(set)
    for key, value in records:
        notice = json.loads(value)
        versions[notice["EVENT_ID"]].add(notice["STATE_VERSION"])
        if notice["EVENT_ID"] not in seen[key]:
            seen[key].append(notice["EVENT_ID"])
    overtaken = [key for key, ids in seen.items() if ids != sorted(ids)]
    there = {event_id for ids in seen.values() for event_id in ids}
    lost, unknown = sorted(written.keys() - there), sorted(there - written.keys())
    torn = [event_id for event_id, found in versions.items() if found != {written.get(event_id)}]
    return [
        *([f"flights with a notice behind a later one: {_some(overtaken)}"] if overtaken else []),
        *([f"notices that are not on the topic: {_some(lost)}"] if lost else []),
        *([f"notices that nobody wrote: {_some(unknown)}"] if unknown else []),
        *([f"notices with another version than their event: {_some(torn)}"] if torn else []),
    ]


def consumers_agree(
    records: Iterable[tuple[str | None, bytes]], documents: Mapping[int, Mapping[str, Any]]
) -> list[str]:
    """Whoever takes only what is newer ends with every live flight as the store has it (R-351, R-364)."""
    held: dict[int, dict[str, Any]] = {}
    for _, value in records:
        for flight in json.loads(value)["SCHD"]["FLTR"]:
            before = held.get(flight["FLID"])
            if before is None or flight["STATE_VERSION"] >= before["STATE_VERSION"]:
                held[flight["FLID"]] = flight
    live = {flid: doc for flid, doc in documents.items() if doc["STATE"] == "ACTIVE"}
    wrong = [flid for flid, doc in live.items() if settled(held.get(flid, {})) != doc]
    return [f"flights that a consumer has otherwise: {_some(wrong)}"] if wrong else []


def outages_ended(alerts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each outage was told once and its end too (D-04)."""
    open_ones = [a["DETAIL"] for a in alerts if a["CODE"] == "OUTAGE" and a.get("ENDED_AT") is None]
    return [f"outages without an end: {_some(open_ones)}"] if open_ones else []


def all_sent(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """No event waits, none is dead: brokers were away, no record was at fault (D-28)."""
    wrong = [(e["TARGET"], e["EVENT_ID"], e["STATUS"]) for e in events if e["STATUS"] != "SENT"]
    return [f"events that are not sent: {_some(wrong)}"] if wrong else []


def _differences(what: str, found: Mapping[Any, Any], expected: Mapping[Any, Any]) -> list[str]:
    wrong = [key for key in sorted({*found, *expected}, key=str) if found.get(key) != expected.get(key)]
    shown = []
    for key in wrong[:_SHOWN]:
        is_, should = _apart(found.get(key), expected.get(key))
        shown.append(f"{what} {key}: {is_!r}, undisturbed {should!r}"[:600])
    return [*shown, f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else shown


def _apart(found: Any, expected: Any) -> tuple[Any, Any]:
    """Of two objects only what differs."""
    if not (isinstance(found, dict) and isinstance(expected, dict)):
        return found, expected
    keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key)]
    return {key: found.get(key) for key in keys}, {key: expected.get(key) for key in keys}


def _alerts(found: Sequence[Any], expected: Sequence[Any]) -> list[str]:
    return [f"alerts: {_some(found)}, undisturbed {_some(expected)}"]


def _some(values: Sequence[Any]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return f"{', '.join(str(value) for value in values[:_SHOWN])}{more}"
