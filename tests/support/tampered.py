"""A store with a row of every kind, the kinds of rows, and what is known of each column (D-36)."""

from __future__ import annotations

import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

from attrs import frozen

from damage import WHO
from embedded import System
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.differences import Difference
from msgx_core.ports.bus import BusRecord
from verified import verified
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
        f"RECEIVED_AT ATTEMPTS BACKFILL_ATTEMPTS {WORK}",
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
