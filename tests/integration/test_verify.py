"""Verification: a store that is right has no difference, and each change by hand is found (D-36)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.model.flight import FlightState
from msgx_core.model.schedule import DnldCoverage
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.pipeline.verify import Window
from msgx_core.ports.operations import Audit
from msgx_core.rules.policy import Policy
from verified import Keeps, batched, decoded_messages, resident_mib, run, traffic, verified
from wire import adft, fdel, flop, fltr, gate, schedule

DAY = date(2030, 1, 1)
EVERYTHING = PipelineConfig(policy=Policy(flop_whitelist=whitelist("extended")))
WHO = Audit("test", "to see it found")


@pytest.fixture(scope="module")
def traffic_done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """2,000 messages of three days, applied and archived."""
    folder = tmp_path_factory.mktemp("verify")
    archive = FsspecArchive.in_folder(folder / "archive")
    with closing_system(folder / "store.db", config=EVERYTHING, archive=archive) as system:
        assert run(system, traffic(3, 130)) >= 2000
        yield system
    archive.close()


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    archive = FsspecArchive.in_memory()
    with closing_system(tmp_path / "store.db", archive=archive, history=Keeps()) as made:
        yield made
    archive.close()


def test_two_thousand_messages_have_no_difference(traffic_done: System) -> None:
    """D-36: flights, rosters, reference data; each applied message counted."""
    report, found = verified(traffic_done)
    assert found == []
    assert report.whole
    assert report.messages > 1500
    assert report.flights > 300
    assert report.references > 100
    assert (report.left_out, report.policies_assumed) == (0, 0)


CHANGES = {
    "scalar": (
        "UPDATE FLIGHT_SCHD SET CONTENT = json_set(CONTENT, '$.STND', '999') WHERE FLID = {flid}",
        "STND",
    ),
    "element": (
        "UPDATE FLIGHT_SCHD SET CONTENT = json_set(CONTENT, '$.ROUT[0].APCD', 'ZZZ') WHERE FLID = {flid}",
        "ROUT",
    ),
    "version": (
        "UPDATE FLIGHT_SCHD SET STATE_VERSION = STATE_VERSION + 1 WHERE FLID = {flid}",
        "STATE_VERSION",
    ),
    "state": ("UPDATE FLIGHT_SCHD SET STATE = 'DELETED' WHERE FLID = {flid}", "STATE"),
    "last message": ("UPDATE FLIGHT_SCHD SET LAST_MSG_ID = 1 WHERE FLID = {flid}", "LAST_MSG_ID"),
    "missing flight": ("DELETE FROM FLIGHT_SCHD WHERE FLID = {flid}", "FLID"),
    "extra flight": (
        "INSERT INTO FLIGHT_SCHD SELECT 77, STATE, STATE_VERSION, OPERATION_DAY, SODT_AT, NULL, FLNO,"
        " CONTENT, LAST_MSG_ID, CREATED_AT, UPDATED_AT, EPOCH FROM FLIGHT_SCHD WHERE FLID = {flid}",
        "FLID",
    ),
    "raw section": ("INSERT INTO FLIGHT_RAW_SECTION VALUES ({flid}, 'SRVT', '<SRVT/>')", "SRVT"),
    "off the roster": ("DELETE FROM SCHD_GEN_FLID WHERE FLID = {flid}", "{flid}"),
    "generation": ("INSERT INTO SCHD_GEN VALUES ('2027-03-14', 3, 1, '', 1)", "VERSION"),
    "missing record": ("DELETE FROM REF_RECORD WHERE RTYPE = 'ARPT' AND ORDINAL = 2", "RKEY"),
    "changed record": (
        "UPDATE REF_RECORD SET PAYLOAD = replace(PAYLOAD, '\"ITCD\",\"', '\"ITCD\",\"X') WHERE RTYPE = 'ARPT'"
        " AND ORDINAL = 2",
        "PAYLOAD",
    ),
    "updated at": (
        "UPDATE FLIGHT_SCHD SET UPDATED_AT = '2027-03-14T00:00:00.000000+00:00' WHERE FLID = {flid}",
        "UPDATED_AT",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_by_hand_is_found(traffic_done: System, tmp_path: Path, name: str) -> None:
    """D-36: with its field, and nothing else is told."""
    sql, wanted = CHANGES[name]
    flid = next(f.flid for f in traffic_done.store.flights(state="ACTIVE", limit=1000) if alone(f))
    copy = tmp_path / "copy.db"
    traffic_done.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
    raw = sqlite3.connect(copy, isolation_level=None)
    assert raw.execute(sql.format(flid=flid)).rowcount == 1
    raw.close()
    store = SqliteStore.open(copy)
    try:
        report, found = verified(traffic_done, store=store)
    finally:
        store.close()
    assert not report.ok
    assert wanted.format(flid=flid) in {each.field for each in found}, found
    assert len({(each.kind, each.key) for each in found}) <= 2, found


def alone(state: FlightState) -> bool:
    """A flight with a route, not of a code share: a change of it is seen nowhere else."""
    return "ROUT" in state.fields and "STND" in state.fields and not state.mafl and state.main_flid is None


def test_a_message_without_a_text_is_named(system: System) -> None:
    """D-36: a gap in the archive is a difference; its flights are left out, all others compared."""
    ids = system.send([schedule("DNLD", [fltr(1), fltr(2), fltr(3)]), flop(2, "GTDT", gate("A1"))])
    system.drain()
    assert system.archive is not None
    system.archive.remove_before(DAY)
    report, found = verified(system)
    assert [(each.kind, each.key) for each in found] == [("message", str(i)) for i in ids]
    assert (report.left_out, report.ok) == (3, False)


def test_another_text_than_the_one_decided_on_is_told(system: System) -> None:
    """D-24, D-36: the digest that was kept with the message says so."""
    (first,) = system.send([schedule("DNLD", [fltr(1)], seqn=7)])
    system.drain()
    assert system.archive is not None
    system.archive.put(first, system.clock.now(), schedule("DNLD", [fltr(1, STND="7")], seqn=7))
    _, found = verified(system)
    assert {(each.kind, each.field) for each in found} == {
        ("message", "RAW_DIGEST"),
        ("flight", "STND"),
        ("event", "PAYLOAD"),
    }


def test_what_a_text_cannot_have_done_is_told(system: System) -> None:
    """D-36: a message recorded as applied that is dead or skipped by its text."""
    first, second = system.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1"))])
    system.drain()
    assert system.archive is not None
    system.archive.put(first, system.clock.now(), b"<MSG>")
    system.archive.put(second, system.clock.now(), flop(1, "ESTT", "<ESTT>14MAR270905</ESTT>"))
    _, found = verified(system)
    said = [str(each.computed) for each in found if each.field == "STATE" and each.kind == "message"]
    assert said == ["DEAD not-well-formed", "SKIPPED unsupported"]


def test_each_message_has_the_settings_it_was_decided_with(tmp_path: Path) -> None:
    """D-36: a whitelist and a coverage that changed meanwhile; the days' rosters too."""
    archive = FsspecArchive.in_memory()
    with closing_system(tmp_path / "store.db", config=EVERYTHING, archive=archive) as system:
        run(system, [schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "ESTT", "<ESTT>14MAR270905</ESTT>")])
        days = evolve(system.policy, dnld_coverage=DnldCoverage.SINGLE_DAY, suppress_unchanged=True)
        system.config = evolve(EVERYTHING, policy=evolve(days, flop_whitelist=whitelist("baseline")))
        system.restart()
        run(system, [schedule("DNLD", [fltr(1)]), schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1"))])
        assert [f.is_live for f in system.store.flights()] == [True, False]
        report, found = verified(system)
    archive.close()
    assert found == []
    assert report.policies_assumed == 0


def test_a_range_leaves_out_what_began_before_it(system: System) -> None:
    """D-36: and counts it; what went on after it too; a change inside it is found."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2, MAID="1")])])
    system.clock.advance(timedelta(days=1))
    begin = system.clock.now()
    run(system, [flop(1, "GTDT", gate("A1")), schedule("DNLD", [fltr(3), fltr(4)]), fdel(4)], portion=1)
    system.clock.advance(timedelta(days=1))
    end = system.clock.now()
    run(system, [flop(3, "GTDT", gate("B1")), schedule("DNLD", [fltr(5)])])
    report, found = verified(system, Window(begin))
    assert (found, report.whole, report.left_out, report.flights) == ([], False, 2, 3)
    report, found = verified(system, Window(begin, end))
    assert found == []
    assert report.messages == 3
    report, found = verified(system, Window(None, begin))
    assert (found, report.messages) == ([], 1)
    with system.store.connection.write():
        system.store.connection.run("UPDATE FLIGHT_SCHD SET STATE_VERSION = 9 WHERE FLID = 4")
    _, found = verified(system, Window(begin, end))
    assert [(each.key, each.field) for each in found] == [("4", "STATE_VERSION")]


def test_raised_versions_are_no_difference(system: System) -> None:
    """D-31: neither before nor after; the flights of later messages go on from there."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)]), fdel(2)])
    system.store.raise_versions(1000, WHO, system.clock.now())
    run(system, [flop(1, "GTDT", gate("A1")), schedule("DNLD", [fltr(2)])])
    state = system.store.flight(1)
    assert state is not None
    assert state.version == 1002
    assert verified(system)[1] == []


def sweep(system: System) -> int:
    """One sweep of the history; how many flights left."""
    system.clock.advance(1)
    return system.pipeline.sweep.run().archived


def test_flights_that_left_for_the_history_are_no_difference(system: System) -> None:
    """D-33, D-36, D-37: gone, or come back above their floor; their main flights stepped; raised or not."""
    later = "18MAR270805"
    run(system, [schedule("DNLD", [fltr(1, later), fltr(2, MAID="1"), fltr(3), fltr(4)]), fdel(4)])
    system.clock.advance(timedelta(days=3))
    assert sweep(system) == 3
    assert [f.flid for f in system.store.flights()] == [1]
    report, found = verified(system)
    assert (found, report.flights) == ([], 1)
    run(system, [schedule("DNLD", [fltr(1, later), fltr(2, MAID="1")]), adft(fltr(3, "14MAR270805"))])
    run(system, [flop(2, "GTDT", gate("A1"))])
    assert verified(system)[1] == []
    system.store.raise_versions(500, WHO, system.clock.now())
    run(system, [flop(2, "GTDT", gate("A2"))])
    system.clock.advance(timedelta(days=3))
    assert sweep(system) == 2
    run(system, [flop(1, "GTDT", gate("A2"))])
    assert verified(system)[1] == []
    with system.store.connection.write():
        system.store.connection.run("UPDATE FLIGHT_VERSION_FLOOR SET STATE_VERSION = 2 WHERE FLID = 2")
    assert [(each.kind, each.key) for each in verified(system)[1]] == [("floor", "2")]


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_a_week_of_fifty_thousand_messages(tmp_path: Path, progress: Callable[[str], None]) -> None:
    """D-36: no difference in a whole week with its sweeps, no message kept, each of ten changes found."""
    archive = FsspecArchive.in_folder(tmp_path / "archive")
    path = tmp_path / "store.db"
    with closing_system(path, config=EVERYTHING, archive=archive, history=Keeps()) as system:
        sent = gone = 0
        for portion in batched(traffic(7, 1420), 1000):
            sent += run(system, portion, portion=1000)
            system.clock.advance(timedelta(hours=3))
            gone += system.pipeline.sweep.run().archived
            progress(f"{sent} messages")
        assert sent >= 50_000
        assert gone > 1000
        held: list[int] = []
        sizes: list[int] = [resident_mib()]

        def look(done: int) -> None:
            held.append(decoded_messages())
            sizes.append(resident_mib())
            progress(f"{done} messages verified")

        report, found = verified(system, progress=look)
        print(f"{report.messages} messages, {report.flights} flights; MiB before, while, after: {sizes}")
        assert found == []
        assert report.messages > 40_000
        assert len(held) > 15
        assert max(held) <= 1
        # What grows are the flights, a few KiB each.
        assert max(sizes) - sizes[0] < 200
        change_ten(system, tmp_path / "copy.db")
    archive.close()


def change_ten(system: System, copy: Path) -> None:
    """Ten changes at once in a copy, each found, and nothing besides."""
    names = [name for name in CHANGES if name not in ("state", "extra flight", "changed record")]
    flids = [flight.flid for flight in system.store.flights(state="ACTIVE", limit=5000) if alone(flight)]
    chosen = dict(zip(names, flids, strict=False))
    assert system.store_path is not None
    raw = sqlite3.connect(system.store_path, isolation_level=None)
    raw.execute("VACUUM INTO ?", (str(copy),))
    raw.close()
    raw = sqlite3.connect(copy, isolation_level=None)
    for name, flid in chosen.items():
        assert raw.execute(CHANGES[name][0].format(flid=flid)).rowcount == 1
    raw.close()
    store = SqliteStore.open(copy)
    try:
        found = verified(system, store=store)[1]
    finally:
        store.close()
    fields = {each.field for each in found}
    assert len(chosen) == 10
    assert {CHANGES[name][1].format(flid=flid) for name, flid in chosen.items()} <= fields
    expected = {str(flid) for flid in chosen.values()}
    assert {each.key for each in found if each.kind == "flight"} <= expected
