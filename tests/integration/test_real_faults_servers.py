"""Servers that are not well under load: connections cut, read-only, full, deadlocks (D-04).

Servers that stop and come back are in `test_real_outages.py`. One set and one daemon for all faults, one
after the other, while messages keep coming: afterwards nothing is lost, doubled, counted or out of order.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from real_set import TIMEOUTS, real_set
from services import postgres
from under_load import Load, for_a_while

FAULT_S = 1.5


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    with real_set(tmp_path_factory.mktemp("faults"), **TIMEOUTS) as real:
        made = Load(real)
        with made.daemon() as daemon:
            yield made
            assert daemon.poll() is None, "the daemon is gone"


def connections_to_the_store(load: Load) -> None:
    """R-447, D-02: cut in the middle of whatever they do, also of COMMIT."""
    cut = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    with closing(postgres.connect(load.real.postgres.url)) as dba:
        assert for_a_while(lambda: dba.execute(cut), FAULT_S) > 5


def connections_to_the_mailbox(load: Load) -> None:
    """D-04, D-43: cut between a mark and the word about it, too."""
    assert for_a_while(lambda: load.real.mailbox.kill(load.account), FAULT_S) > 5


def connections_to_the_cache(load: Load) -> None:
    """D-31: a write that went in and was not confirmed is written once more."""
    with load.real.redis.client() as client:
        assert for_a_while(lambda: client.execute_command("CLIENT KILL TYPE normal"), FAULT_S) > 5


def store_is_read_only(load: Load) -> None:
    """D-04: SQLSTATE 25006 is an outage of the store, for connections that are open as well."""
    with closing(postgres.connect(load.real.postgres.url)) as dba:
        dba.execute("SET default_transaction_read_only = off")
        dba.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        dba.execute("SELECT pg_reload_conf()")
        try:
            load.is_noticed("store")
        finally:
            dba.execute("ALTER SYSTEM RESET default_transaction_read_only")
            dba.execute("SELECT pg_reload_conf()")


def mailbox_is_read_only(load: Load) -> None:
    """D-04: intake goes on, the marks wait."""
    load.real.mailbox.run("SET GLOBAL read_only = 1")
    try:
        load.is_noticed("mailbox")
    finally:
        load.real.mailbox.run("SET GLOBAL read_only = 0")


def cache_is_read_only(load: Load) -> None:
    """D-04: READONLY of a replica."""
    with load.real.redis.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        try:
            time.sleep(FAULT_S)
        finally:
            client.execute_command("REPLICAOF", "NO", "ONE")
    load.is_noticed("cache")


def cache_is_out_of_memory(load: Load) -> None:
    """D-04: OOM, with no eviction: nothing is dropped, the head waits."""
    with load.real.redis.client() as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 1)
        try:
            time.sleep(FAULT_S)
        finally:
            client.config_set("maxmemory", 0)
    load.is_noticed("cache")


def deadlocks_in_the_store(load: Load) -> None:
    """D-04: 40P01 of ours: again at once, not counted.

    Somebody has a flight and wants the row that every step begins with; who waits for the flight loses, as
    the other is patient.
    """
    before = _statistic(load, "deadlocks")

    def embrace() -> None:
        with psycopg.connect(f"{load.real.postgres.url}?options=-csearch_path%3Dmsgx") as other:
            other.execute("SET deadlock_timeout = '20s'")
            other.execute("SELECT 1 FROM FLIGHT_SCHD FOR UPDATE")
            time.sleep(0.3)
            other.execute("SELECT 1 FROM PIPELINE_LOCK FOR UPDATE")

    for_a_while(embrace, 2 * FAULT_S)
    assert _statistic(load, "deadlocks") > before


def _statistic(load: Load, column: str) -> int:
    with closing(postgres.connect(load.real.postgres.url)) as dba:
        row = dba.execute(f"SELECT sum({column}) FROM pg_stat_database").fetchone()
    return 0 if row is None else int(row[0])


def serialization_failures_in_the_store(load: Load) -> None:
    """D-04: 40001: again at once, not counted. The rows that all steps lock keep changing under them."""
    before = len(_not_serialized(load))
    touch = "UPDATE msgx.PIPELINE_LOCK SET EPOCH = EPOCH"
    with closing(postgres.connect(load.real.postgres.url)) as dba:
        dba.execute("ALTER SYSTEM SET default_transaction_isolation = 'serializable'")
        dba.execute("SELECT pg_reload_conf()")
        try:
            assert for_a_while(lambda: dba.execute(touch), FAULT_S, 0.001) > 100
        finally:
            dba.execute("ALTER SYSTEM RESET default_transaction_isolation")
            dba.execute("SELECT pg_reload_conf()")
    assert len(_not_serialized(load)) > before, "no statement of msgx met one"


def _not_serialized(load: Load) -> list[str]:
    """Statements of msgx that the server's log says it could not serialize."""
    log = (load.real.postgres.server.folder / "server.log").read_text(errors="replace")
    found = re.findall(r"could not serialize.*?STATEMENT: +([^\n]*)", log, re.DOTALL)
    return [statement for statement in found if not statement.startswith("UPDATE msgx.PIPELINE_LOCK")]


FAULTS = [
    connections_to_the_store,
    connections_to_the_mailbox,
    connections_to_the_cache,
    store_is_read_only,
    mailbox_is_read_only,
    cache_is_read_only,
    cache_is_out_of_memory,
    deadlocks_in_the_store,
    serialization_failures_in_the_store,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_server_is_not_well_under_load(load: Load, fault: Callable[[Load], None]) -> None:
    """D-04, D-02, D-28, R-350: what the server refuses is done when it does not any more."""
    with load.coming():
        time.sleep(0.3)
        fault(load)
        time.sleep(0.3)
    load.check()
