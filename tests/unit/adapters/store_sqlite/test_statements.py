"""The SQL files: every statement is used, found by name, and takes the index that is meant for it."""

import doctest
import re
from pathlib import Path
from types import ModuleType

import pytest

from msgx_adapters import store_sqlite
from msgx_adapters.store_sql import documents, statements
from msgx_adapters.store_sql.statements import parse
from msgx_adapters.store_sqlite import SqliteStore, texts
from msgx_adapters.store_sqlite.session import SQL

PLANS = {
    "head": "PROC_STATE_HEAD",
    "claim_writebacks": "PROC_STATE_OWED",
    "count_owed": "PROC_STATE_OWED",
    "writebacks_owed": "PROC_STATE_OWED",
    "count_messages": "COVERING INDEX PROC_STATE_COUNT",
    "count_interrupted": "PROC_STATE_TRYING",
    "identity_holders": "MULTI-INDEX OR",
    "family": "FLIGHT_SCHD_CHILDREN (MAID=?)",
    "children_of": "FLIGHT_SCHD_CHILDREN (MAID=?)",
    "in_interval": "FLIGHT_SCHD_SODT (SODT_AT>? AND SODT_AT<?)",
    "touched_by": "FLIGHT_SCHD_LAST",
    "due_msg": "MSG_EVENT_FLIGHT (FLID=? AND STATUS=? AND EVENT_ID<?)",
    "due_schd": "MSG_EVENT_DUE",
    "drop_documents": "MSG_EVENT_SCHD (FLID=?)",
    "message_events": "MSG_EVENT_MSG",
    "flight_events": "MSG_EVENT_FLIGHT",
    "count_events": "COVERING INDEX MSG_EVENT_FLIGHT",
    "events_stuck": "MSG_EVENT_STUCK",
    "close_request": "REQ_TRACK_ANSWER",
    "open_request": "REQ_TRACK_OPEN",
    "alerts_open": "OPS_ALERT_OPEN",
}


@pytest.mark.parametrize(("name", "index"), PLANS.items())
def test_a_statement_takes_its_index(name: str, index: str) -> None:
    params = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    store = SqliteStore.open(None)
    with store.connection.read():
        plan = [row["detail"] for row in store.connection.rows(f"EXPLAIN QUERY PLAN {SQL[name]}", params)]
    store.close()
    assert any(index in step for step in plan), plan


def test_every_statement_is_used_and_every_used_one_is_there() -> None:
    folder = Path(store_sqlite.__file__).parent
    source = "\n".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
    assert set(re.findall(r'SQL\["(\w+)"\]', source)) <= SQL.keys()
    assert [name for name in SQL if f'"{name}"' not in source] == []


def test_statements_are_found_by_name() -> None:
    text = "-- About.\n\n-- name: one\nSELECT 1;\n\n-- Why.\n-- name: two\nSELECT ';'\n"
    assert parse(text) == {"one": "SELECT 1", "two": "SELECT ';'"}


@pytest.mark.parametrize("text", ["-- name: one\nSELECT 1;\n-- name: one\nSELECT 2;\n", "-- name: one\n"])
def test_a_statement_twice_or_empty_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="'one'"):
        parse(text)


@pytest.mark.parametrize("module", [documents, statements, texts])
def test_examples(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
