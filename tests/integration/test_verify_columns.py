"""Verification, column by column: each is vouched for, or is listed here and in `docs/evidence.md` (D-36).

The columns are those of the declared schema: a new one is tried like all others, and fails until somebody
has decided about it.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import frozen

from damage import DAYS, WHO, fill
from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.differences import Difference
from msgx_core.ports.bus import BusRecord
from verified import Keeps, verified
from wire import adft, flop, fltr, gate, reference, schedule

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "src/msgx_adapters/store_sqlite/schema.sql"
LATE = "20MAR270805"


def declared() -> dict[str, dict[str, str]]:
    """Every table of the declared schema: its columns, and what each holds."""
    made = sqlite3.connect(":memory:")
    made.executescript(SCHEMA.read_text(encoding="utf-8"))
    names = [name for (name,) in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {
        name: {row[1]: row[2] for row in made.execute(f"PRAGMA table_info({name})")}
        for name in names
        if not name.startswith("sqlite_")
    }
    made.close()
    return found


TABLES = declared()
NOTHING_OF = """OPS_ALERT OPS_OUTAGE OPS_JOB API_TOKEN SCHD_SNAP_LOG REQ_TRACK CACHE_PENDING LEASE
PIPELINE_LOCK alembic_version""".split()
"""Tables that no message makes, or that no decision reads."""


@frozen
class Kind:
    """Rows of one kind, and the columns of which nothing is known; `lost`: nor whether one is missing."""

    table: str
    where: str
    unknown: str = ""
    lost: bool = False


WORK = "ENQUEUED_AT FINISHED_AT"
"""When the work was done, which the clock said and nothing else."""
KINDS = {
    "applied": Kind("PROC_STATE", "APPLY_NO = 2", f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS {WORK}"),
    "applied, a mark owed": Kind(
        "PROC_STATE",
        "MSG_ID = {owed}",
        f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS BACKFILL_CLAIM_UNTIL {WORK}",
    ),
    "skipped, duplicate": Kind(
        "PROC_STATE",
        "REASON LIKE 'duplicate-of%'",
        f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS REASON DETAIL {WORK}",
        lost=True,
    ),
    "skipped": Kind(
        "PROC_STATE",
        "REASON = 'unsupported'",
        f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS REASON DETAIL {WORK}",
        lost=True,
    ),
    "dead": Kind(
        "PROC_STATE",
        "STATE = 'DEAD'",
        f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS DETAIL {WORK}",
        lost=True,
    ),
    "failed": Kind(
        "PROC_STATE",
        "STATE = 'FAILED'",
        "MSG_ID RECEIVED_AT ATTEMPTS NEXT_ATTEMPT_AT REASON DETAIL ENQUEUED_AT UPDATED_AT TRYING",
        lost=True,
    ),
    "waiting": Kind(
        "PROC_STATE",
        "STATE = 'PENDING'",
        "MSG_ID RECEIVED_AT ATTEMPTS ENQUEUED_AT UPDATED_AT TRYING",
        lost=True,
    ),
    "flight": Kind("FLIGHT_SCHD", "FLID = 1"),
    "shared flight": Kind("FLIGHT_SCHD", "FLID = 12"),
    "deleted flight": Kind("FLIGHT_SCHD", "STATE = 'DELETED'"),
    "section": Kind("FLIGHT_RAW_SECTION", "TRUE"),
    "floor": Kind("FLIGHT_VERSION_FLOOR", "FLID = 4"),
    "floor of one that came back": Kind("FLIGHT_VERSION_FLOOR", "FLID = 3"),
    "generation": Kind("SCHD_GEN", "OPERATION_DAY = '2027-03-20'"),
    "member": Kind("SCHD_GEN_FLID", "FLID = 1"),
    "sender": Kind("SENDER_MARK", "TRUE"),
    "record": Kind("REF_RECORD", "RKEY = 'A1'"),
    "notice, sent": Kind("MSG_EVENT", "TARGET = 'KAFKA:msg' AND STATUS = 'SENT'", lost=True),
    "notice, waiting": Kind(
        "MSG_EVENT", "TARGET = 'KAFKA:msg' AND STATUS = 'PENDING' AND ATTEMPTS = 0", lost=True
    ),
    "notice, dead": Kind(
        "MSG_EVENT", "TARGET = 'KAFKA:msg' AND STATUS = 'DEAD'", "ATTEMPTS LAST_CODE UPDATED_AT", lost=True
    ),
    "state, sent": Kind("MSG_EVENT", "TARGET = 'KAFKA:schd' AND STATUS = 'SENT'", lost=True),
    "state, waiting": Kind("MSG_EVENT", "TARGET = 'KAFKA:schd' AND STATUS = 'PENDING'", lost=True),
    "identity": Kind("STORE_INFO", "NAME LIKE 'pin.msgx.identity%'"),
    "settings": Kind("STORE_INFO", "NAME LIKE 'pin.policy%'"),
    "id": Kind("STORE_INFO", "NAME = 'id'", "NAME VALUE", lost=True),
    "last message": Kind("COUNTERS", "NAME = 'apply_no'"),
    "last notice": Kind("COUNTERS", "NAME = 'event_msg'", "VALUE"),
    "last state": Kind("COUNTERS", "NAME = 'event_schd'", "VALUE"),
    "last request": Kind("COUNTERS", "NAME = 'outbound_seqn'", "VALUE"),
    "raised": Kind("OPS_AUDIT", "ACTION = 'recover_versions'", "AUDIT_ID ACTOR REASON DETAIL CREATED_AT"),
    "sent once more": Kind(
        "OPS_AUDIT",
        "ACTION = 'republish'",
        "AUDIT_ID ACTION TARGET ACTOR REASON DETAIL CREATED_AT",
        lost=True,
    ),
    "put back": Kind("OPS_AUDIT", "DETAIL LIKE 'from archive%'", "AUDIT_ID ACTOR REASON CREATED_AT"),
    "let in again": Kind("OPS_AUDIT", "ACTION = 'readmit'", "AUDIT_ID ACTOR REASON DETAIL CREATED_AT"),
}


@frozen
class Whole:
    """A system with a row of every kind, its store file without any constraint, and ids to find rows by."""

    system: System
    path: Path
    ids: dict[str, int]

    def tampered(self, folder: Path, *statements: str) -> list[Difference]:
        """What is found in a copy that was changed."""
        copy = folder / "copy.db"
        shutil.copy(self.path, copy)
        raw = sqlite3.connect(copy, isolation_level=None)
        for each in statements:
            assert raw.execute(each).rowcount == 1, each
        raw.close()
        store = SqliteStore.open(copy)
        try:
            return verified(self.system, store=store)[1]
        finally:
            store.close()

    def row(self, kind: Kind) -> str:
        """The condition for one row of a kind."""
        where = kind.where.format(**self.ids)
        return f"rowid IN (SELECT rowid FROM {kind.table} WHERE {where} ORDER BY rowid LIMIT 1)"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder = tmp_path_factory.mktemp("columns")
    archive = FsspecArchive.in_folder(folder / "archive")
    with closing_system(folder / "store.db", config=DAYS, archive=archive, history=Keeps()) as system:
        system.start()
        fill(system.pipeline, system.clock, system.send)
        ids = more(system)
        assert verified(system)[1] == []
        copy = folder / "loose.db"
        system.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
        loosen(copy)
        yield Whole(system, copy, ids)
    archive.close()


def more(system: System) -> dict[str, int]:
    """Every kind that is not there yet; of some of them the ids."""
    twice = flop(1, "GTDT", gate("A4"), seqn=900_001)
    sent(system, twice, twice, b"<MSG>", reference("GLST", "ADD", ["<GCOD>A2</GCOD>"]), twice)
    first = fltr(1, LATE, SRVT="<A/>")
    shared = fltr(12, LATE, MAID="11")
    sent(system, schedule("DNLD", [first, fltr(11, LATE), shared, fltr(13, LATE)]))
    sent(system, schedule("DNLD", [first, fltr(11, LATE), shared]))
    again = [msg_id for msg_id, fate in system.fates().items() if str(fate[2]).startswith("duplicate-of")][-1]
    assert system.store.readmit(again, WHO, system.clock.now()).refused is None
    put_back(system)
    refusing(system)
    system.bus.outage = "down"
    system.clock.advance(1)
    (owed,) = system.send([flop(11, "GTDT", gate("A6"))])
    system.pipeline.intake.scan(lambda: False)
    while system.pipeline.pump.tick().again:
        pass
    waiting(system)
    return {"owed": owed}


def sent(system: System, *raws: bytes) -> None:
    """Each one alone, a moment later."""
    for raw in raws:
        system.clock.advance(1)
        system.send([raw])
        system.drain()


def put_back(system: System) -> None:
    """A message whose mailbox row went too early, put back from the archive (D-36)."""
    system.clock.advance(1)
    (msg_id,) = system.send([b""])
    system.drain()
    assert system.archive is not None
    key = system.archive.put(msg_id, system.clock.now(), flop(1, "GTDT", gate("A5")))
    done = system.store.replay_from_archive({msg_id: f'{{"raw":"{key}"}}'}, WHO, system.clock.now())
    assert [each.refused for each in done] == [None]
    system.drain()
    assert system.fates()[msg_id][0] == "SUCCEEDED"


def refusing(system: System) -> None:
    """A notice that the bus does not take, ever."""

    def refuse(record: BusRecord) -> str | None:
        return "too-large" if record.topic == "KAFKA_MSG" else None

    system.bus.refuse = refuse
    sent(system, adft(fltr(14, LATE)))
    system.bus.refuse = None


def waiting(system: System) -> None:
    """One that has failed, and one behind it; both were begun with, so that their texts are archived."""
    assert system.archive is not None
    raws = [flop(1, "GTDT", gate("A7")), flop(1, "GTDT", gate("A8"))]
    first, second = system.send(raws)
    for msg_id, raw in ((first, raws[0]), (second, raws[1])):
        system.archive.put(msg_id, system.clock.now(), raw)
    system.pipeline.intake.scan(lambda: False)
    now = system.clock.now()
    system.store.fail(first, "INFRA", "store-rejected:22", None, now + timedelta(hours=1), now)
    assert system.fates()[second][0] == "PENDING"


def loosen(path: Path) -> None:
    """Take every constraint away, as somebody does who makes a table anew by hand."""
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA legacy_alter_table = ON")
    for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    for table in {kind.table for kind in KINDS.values()}:
        raw.execute(f"ALTER TABLE {table} RENAME TO strict")
        raw.execute(f"CREATE TABLE {table} AS SELECT * FROM strict")
        raw.execute("DROP TABLE strict")
    raw.close()


FOUND_BY = ("MSG_ID", "FLID", "EVENT_ID", "AUDIT_ID", "TARGET")
"""What rows are found by: without it a row is not there, and no table lets it be."""
OTHERS = {"STATE": ("PENDING", "SUCCEEDED", "SKIPPED", "DEAD"), "TARGET": ("KAFKA:msg", "KAFKA:schd")}
OTHERS |= {"STATUS": ("PENDING", "SENT", "DEAD", "DISCARDED")}
BY_HAND = {("notice, dead", "STATUS", "'DISCARDED'")}
"""What an operator may do; the audit says who did."""
FLIGHT_STATES = ("ACTIVE", "DELETED")


def values(kind: Kind, column: str) -> list[str]:
    """What a hand could put there instead, each as SQL: another one of the same kind, and nothing at all."""
    if column in OTHERS and (kind.table, column) != ("OPS_AUDIT", "TARGET"):
        legal = FLIGHT_STATES if kind.table == "FLIGHT_SCHD" else OTHERS[column]
        return [f"'{each}'" for each in legal]
    if TABLES[kind.table][column] == "INTEGER":
        return [f"COALESCE({column}, 0) + 1", "NULL"]
    if column.endswith(("_AT", "_UNTIL")):
        now = f"COALESCE({column}, '2027-03-19T00:00:00.000000+00:00')"
        return [f"strftime('%Y-%m-%dT%H:%M:%f000+00:00', {now}, '+1 second')", "NULL"]
    if column == "OPERATION_DAY":
        return [f"date({column}, '+1 day')", "NULL"]
    if column == "CONTENT":
        return [f"json_set({column}, '$.STND', '999')", "NULL"]
    if column == "PAYLOAD":
        return ["replace(PAYLOAD, '1', '7')", "PAYLOAD || ' '", "NULL"]
    return [f"COALESCE({column}, '') || 'x'", "NULL"]


def stands(whole: Whole, kind: Kind, column: str) -> str:
    """What is there, as SQL."""
    raw = sqlite3.connect(whole.path)
    ((value,),) = raw.execute(f"SELECT quote({column}) FROM {kind.table} WHERE {whole.row(kind)}").fetchall()
    raw.close()
    return str(value)


@pytest.mark.parametrize("name", KINDS)
def test_another_value_in_any_column_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: or the column is listed as one of which nothing is known, and then nothing is told of it."""
    kind = KINDS[name]
    missed: list[tuple[object, ...]] = []
    known: list[tuple[object, ...]] = []
    for column in TABLES[kind.table]:
        if column == "EPOCH":
            continue
        for value in values(kind, column):
            if value == "NULL" and column in FOUND_BY:
                continue
            change = f"UPDATE {kind.table} SET {column} = {value} WHERE {whole.row(kind)}"
            if became(whole, tmp_path, f"{change} RETURNING quote({column})") == stands(whole, kind, column):
                continue
            found = whole.tampered(tmp_path, change)
            is_unknown = column in kind.unknown.split()
            if not found and not is_unknown and (name, column, value) not in BY_HAND:
                missed.append((column, value))
            if found and is_unknown and value != "NULL":
                known.append((column, value, [(each.key, each.field) for each in found]))
    assert not missed + known, "\n".join(map(str, missed + known))


def became(whole: Whole, folder: Path, change: str) -> str:
    """What a change leaves in its column."""
    copy = folder / "tried.db"
    shutil.copy(whole.path, copy)
    raw = sqlite3.connect(copy, isolation_level=None)
    ((value,),) = raw.execute(change).fetchall()
    raw.close()
    return str(value)


@pytest.mark.parametrize("name", KINDS)
def test_a_row_that_is_missing_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: or age can have taken it, and nothing is told."""
    kind = KINDS[name]
    found = whole.tampered(tmp_path, f"DELETE FROM {kind.table} WHERE {whole.row(kind)}")
    assert bool(found) is not kind.lost, found


KEYS = {
    "PROC_STATE": "MSG_ID = 777, IDENTITY_KEY = NULL, APPLY_NO = APPLY_NO + 1000",
    "FLIGHT_SCHD": "FLID = 777",
    "FLIGHT_RAW_SECTION": "FLID = 777",
    "FLIGHT_VERSION_FLOOR": "FLID = 777",
    "SCHD_GEN": "OPERATION_DAY = '2027-03-30'",
    "SCHD_GEN_FLID": "FLID = 777",
    "SENDER_MARK": "SNDR = 'NOBODY'",
    "REF_RECORD": "RKEY = 'ZZ', ORDINAL = ORDINAL + 100",
    "MSG_EVENT": "EVENT_ID = EVENT_ID + 1000, FLID = 777",
    "STORE_INFO": "NAME = NAME || 'x'",
    "COUNTERS": "NAME = NAME || 'x'",
    "OPS_AUDIT": "TARGET = 777",
}
HARMLESS = {"failed", "waiting", "id", "sent once more", "put back", "let in again", "dead", "identity"}
"""A message that waits is not decided yet; a pin that nothing names, and what people say they did."""


@pytest.mark.parametrize("name", [name for name in KINDS if name not in HARMLESS])
def test_a_row_that_is_one_too_many_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: a copy of a row under another key."""
    kind = KINDS[name]
    made = f"INSERT INTO {kind.table} SELECT * FROM {kind.table} WHERE {whole.row(kind)}"
    last = f"rowid = (SELECT MAX(rowid) FROM {kind.table})"
    assert whole.tampered(tmp_path, made, f"UPDATE {kind.table} SET {KEYS[kind.table]} WHERE {last}") != []


def test_each_table_is_decided_about() -> None:
    """D-36: by rows of a kind, or as one of which nothing is compared."""
    assert sorted({*NOTHING_OF, *(kind.table for kind in KINDS.values())}) == sorted(TABLES)
    for kind in KINDS.values():
        assert set(kind.unknown.split()) <= TABLES[kind.table].keys()


def test_what_is_not_compared_is_written_down() -> None:
    """D-36: `docs/evidence.md` names every table, and each column of which nothing is known."""
    text = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("|")]
    missing = []
    for table in TABLES:
        shown = "REF_MASTER" if table == "REF_RECORD" else table
        said = " ".join(row for row in rows if re.search(rf"`{shown}`", row.split("|")[1]))
        unknown = {
            column for kind in KINDS.values() if kind.table == table for column in kind.unknown.split()
        }
        missing += [f"{table}.{column}" for column in sorted(unknown) if f"`{column}`" not in said]
        missing += [] if said else [table]
    assert missing == []


def test_there_is_a_row_of_each_kind(whole: Whole) -> None:
    """What is tried is there to be tried."""
    raw = sqlite3.connect(whole.path)
    for name, kind in KINDS.items():
        assert raw.execute(f"SELECT 1 FROM {kind.table} WHERE {whole.row(kind)}").fetchall(), name
    raw.close()
