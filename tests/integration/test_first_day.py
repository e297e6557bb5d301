"""The sample day on the embedded set: in one go, restarted, shifted, elsewhere, and crashed anywhere."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import first_day
from embedded import System, closing_system
from first_day import Shift
from msgx_core.ports.inbox import MarkResult


def check(system: System, ids: dict[str, int], shift: Shift) -> None:
    """Everything that the expected results name."""
    names = {msg_id: name for name, msg_id in ids.items()}
    fates = {names[msg_id]: fate for msg_id, fate in system.fates().items()}
    assert fates == {name: expected_fate(name, ids, shift) for name in first_day.FATES}
    for flid, expected in first_day.FLIGHTS.items():
        assert first_day.matches(system.document(flid + shift.flid), expected, shift) == [], flid
    for rtype, keys in first_day.REFERENCE.items():
        assert sorted(r.rkey for r in system.store.references(rtype)) == keys
    written = {flid: system.store.flight_events(flid + shift.flid) for flid in first_day.EVENTS}
    assert {flid: len(rows) for flid, rows in written.items()} == first_day.EVENTS
    for flid, last in first_day.LAST_EVENTS.items():
        payload = written[flid][-1]["PAYLOAD"]
        assert {key: payload.get(key) for key in last} == last
    alerts = [(row["CODE"], names[row["MSG_ID"]]) for row in system.store.alerts()]
    assert alerts == first_day.ALERTS
    log = [
        (names[row["MSG_ID"]], row["RESULT"], tuple(row["FLAGS"]))
        for row in reversed(system.store.snapshots())
    ]
    assert log == first_day.SNAPSHOTS
    rosters = {r.day: {flid - shift.flid for flid in r.flids} for r in system.store.rosters() if r.flids}
    assert rosters == {shift.day(day): flids for day, flids in first_day.ROSTERS.items()}


def expected_fate(name: str, ids: dict[str, int], shift: Shift) -> tuple[str, str | None, str | None]:
    """The fate of a message in a variant: ids and FLIDs in reasons move along."""
    state, code, reason = first_day.FATES[name]
    if reason is not None:
        reason = reason.replace("<08>", str(ids["08-flop-gtdt"]))
        reason = reason.replace("700102", str(700102 + shift.flid))
    return state, code, reason


def check_outside(system: System, ids: dict[str, int], shift: Shift) -> None:
    """Mailbox, cache and bus."""
    assert system.inbox.scan(0, 1000) == []
    live = {f for f, e in first_day.FLIGHTS.items() if e["STATE"] == "ACTIVE"}
    for flid in first_day.FLIGHTS:
        assert (system.cache.get(flid + shift.flid) is not None) == (flid in live)
    topics = Counter(record.topic for record in system.bus.records)
    assert topics["KAFKA_MSG"] == sum(first_day.EVENTS.values())
    assert topics["KAFKA_SCHD"] >= 1


def run(system: System, shift: Shift, *, first_id: int = 1) -> dict[str, int]:
    """Send and drain the day at once."""
    ids = {}
    for n, (name, raw) in enumerate(first_day.messages(shift)):
        system.inbox.insert(first_id + n, raw)
        ids[name] = first_id + n
    system.drain()
    return ids


VARIANTS = [
    pytest.param(Shift(), "Asia/Shanghai", 1, id="as-it-is"),
    pytest.param(Shift(flid=123_456, seqn=9_000, days=500, minutes=5), "Asia/Shanghai", 7_000, id="shifted"),
    pytest.param(Shift(), "America/New_York", 1, id="new-york-on-the-night-clocks-change"),
    pytest.param(Shift(days=3, minutes=-4), "Europe/Berlin", 1, id="berlin"),
]


@pytest.mark.parametrize(("shift", "zone", "first_id"), VARIANTS)
def test_in_one_go(tmp_path: Path, shift: Shift, zone: str, first_id: int) -> None:
    """R-059, R-080: The whole acceptance case: states, codes, reasons, versions, fields, events, log,
    rosters, alerts (R-083, R-086, D-06, D-11, D-16, D-18, D-21, D-24, D-25)."""
    with closing_system(tmp_path / "store.db", zone=ZoneInfo(zone)) as system:
        ids = run(system, shift, first_id=first_id)
        check(system, ids, shift)
        check_outside(system, ids, shift)


@pytest.mark.parametrize("clean", [True, False], ids=["clean", "unclean"])
def test_with_a_restart_after_every_message(tmp_path: Path, clean: bool) -> None:
    """Recovery looks at persisted records only: a restart anywhere changes nothing (R-447, D-05)."""
    shift = Shift()
    ids = {}
    with closing_system(tmp_path / "store.db") as system:
        for name, raw in first_day.messages(shift):
            ids[name] = system.inbox.send(raw)
            system.start()
            system.drain()
            system.restart(clean=clean)
        system.start()
        check(system, ids, shift)
        check_outside(system, ids, shift)


def in_order_per_flight(system: System) -> None:
    """On the bus a flight's notices never go back, but for repeats of what was sent before (R-350)."""
    highest: dict[str, int] = {}
    for record in system.bus.of("KAFKA_MSG"):
        assert record.key is not None
        event_id = json.loads(record.value)["EVENT_ID"]
        assert event_id >= highest.get(record.key, 0)
        highest[record.key] = event_id


def test_marks_are_the_terminal_time_in_whole_seconds(tmp_path: Path) -> None:
    """R-136, R-143, D-43: writing the mark twice writes the same value and never overwrites."""
    with closing_system(tmp_path / "store.db") as system:
        ids = run(system, Shift())
        first = ids["01-arpt-dnld"]
        finished = system.store.message(first)
        assert finished is not None
        assert system.inbox.mark([(first, finished["FINISHED_AT"])]) == {first: MarkResult.ALREADY_MARKED}
