"""The PostgreSQL store when the server freezes, dies, comes back, or ends a connection (D-02, D-04, D-34)."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.errors import Transient
from msgx_core.model.events import Target
from msgx_core.testing.builders import NOW, apply, change, enqueue, flight, put
from services.base import wait_until
from services.postgres import (
    POSTGRES,
    PrivatePostgres,
    Tables,
    connect,
    own_schema,
    private_postgres,
    server_of,
)

TIMEOUT_S = 1.0

CALLS: dict[str, Callable[[PostgresStore], object]] = {
    "ping": lambda s: s.ping(),
    "head": lambda s: s.head(),
    "due_events": lambda s: s.due_events(Target.MSG, NOW, 10),
    "apply": lambda s: s.apply(change(2, put(flight(8)))),
    "a large apply": lambda s: s.apply(
        change(2, *[put(flight(n, REMC="x" * 4000)) for n in range(10, 3000)])
    ),
    "finish": lambda s: s.finish(1, NOW),
    "renew_lease": lambda s: s.renew_lease(60.0),
    "counts": lambda s: s.counts(),
}


@pytest.fixture(scope="module")
def private() -> Iterator[PrivatePostgres]:
    """A server that is ours to freeze and to kill, whatever else is found."""
    with POSTGRES.found(), private_postgres() as made:
        yield made


@pytest.fixture
def schema(private: PrivatePostgres) -> Iterator[str]:
    with own_schema(private.url) as url:
        yield url


@pytest.fixture
def store(schema: str) -> Iterator[PostgresStore]:
    made = PostgresStore.open(schema, timeout_s=TIMEOUT_S, statement_timeout_s=3 * TIMEOUT_S)
    made.acquire_lease("a", 60.0)
    apply(made, 1, put(flight(7)))
    enqueue(made, 2)
    yield made
    made.close()


@pytest.mark.parametrize("call", CALLS)
def test_a_frozen_server_does_not_freeze_us(
    private: PrivatePostgres, store: PostgresStore, call: str
) -> None:
    """R-123, D-34: connections stay open and nothing answers; each call ends, and all works again
    afterwards."""
    private.server.freeze()
    try:
        began = time.monotonic()
        with pytest.raises(Transient) as caught:
            CALLS[call](store)
        assert time.monotonic() - began < 2 * TIMEOUT_S + 0.5
        assert caught.value.service == "store"
    finally:
        private.server.thaw()
    wait_until(lambda: _answers(store), "the store does not come back")
    head = store.head()
    assert head is not None
    # What was on its way when the server froze may have been done afterwards: the head tells (D-02).
    assert head.msg_id == (1 if call != "finish" or head.applied_at else 2)


def test_opening_on_a_frozen_server_ends(private: PrivatePostgres, schema: str) -> None:
    private.server.freeze()
    try:
        began = time.monotonic()
        with pytest.raises(Transient, match="store"):
            PostgresStore.open(schema, timeout_s=TIMEOUT_S)
        assert time.monotonic() - began < TIMEOUT_S + 0.5
    finally:
        private.server.thaw()


def test_a_killed_server_is_an_outage_and_comes_back(private: PrivatePostgres, store: PostgresStore) -> None:
    """D-04: refused connections; then the same object goes on with all that was committed."""
    private.server.kill()
    for call in ("head", "apply", "ping"):
        with pytest.raises(Transient):
            CALLS[call](store)
    private.server.start()
    head = store.head()
    assert head is not None
    assert head.applied_at == NOW
    store.apply(change(2, put(flight(8))))


def test_ended_connections_are_replaced(private: PrivatePostgres, store: PostgresStore) -> None:
    """A restart of server or pooler while we are idle costs nothing; a read is done again in any case."""
    store.ping()
    time.sleep(0.6)
    _end_all(private)
    store.apply(change(2, put(flight(8))))
    _end_all(private)
    assert store.flight(8) is not None


def test_a_connection_that_ends_in_the_middle_of_a_step(
    private: PrivatePostgres, schema: str, store: PostgresStore
) -> None:
    """D-02: `Transient`; the step is there wholly or not at all, and the head tells."""
    with connect(server_of(schema)) as other, ThreadPoolExecutor(1) as thread:
        other.autocommit = False
        other.execute(f"SELECT * FROM {_name(schema)}.PIPELINE_LOCK FOR UPDATE")
        waiting = thread.submit(CALLS["apply"], store)
        wait_until(lambda: _waits(private), "step 1 does not wait for the lock")
        with connect(private.url) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'msgx' AND wait_event_type = 'Lock'"
            )
        with pytest.raises(Transient):
            waiting.result(5)
    assert store.flight(8) is None
    store.apply(change(2, put(flight(8))))
    assert store.flight(8) is not None


def test_a_slow_statement_on_a_living_server_is_given_its_time(schema: str, store: PostgresStore) -> None:
    """A lock held for longer than `timeout_s` is no outage; one held too long is."""
    with connect(server_of(schema)) as other, ThreadPoolExecutor(1) as thread:
        other.autocommit = False
        other.execute(f"SELECT * FROM {_name(schema)}.PIPELINE_LOCK FOR UPDATE")
        waiting = thread.submit(CALLS["apply"], store)
        time.sleep(2.5 * TIMEOUT_S)
        other.rollback()
        assert waiting.result(5) == 2
        enqueue(store, 3)
        other.execute(f"SELECT * FROM {_name(schema)}.PIPELINE_LOCK FOR UPDATE")
        with pytest.raises(Transient, match="timeout"):
            store.apply(change(3))
        other.rollback()
    store.apply(change(3))


def test_closing_ends_what_runs(private: PrivatePostgres, schema: str, store: PostgresStore) -> None:
    """A statement that still runs is cancelled and rolled back; what comes later is refused."""
    with connect(server_of(schema)) as other:
        other.autocommit = False
        other.execute(f"SELECT * FROM {_name(schema)}.PIPELINE_LOCK FOR UPDATE")
        ended: list[BaseException] = []

        def run() -> None:
            try:
                CALLS["apply"](store)
            except Transient as error:
                ended.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        wait_until(lambda: _waits(private), "step 1 does not wait for the lock")
        store.close()
        thread.join(5)
        assert len(ended) == 1
    with pytest.raises(Transient, match="closed"):
        store.ping()
    tables = Tables(schema)
    assert tables.rows("SELECT * FROM PROC_STATE WHERE APPLIED_AT IS NOT NULL AND MSG_ID = 2") == []
    tables.close()


def test_a_read_only_server_is_an_outage(private: PrivatePostgres, schema: str) -> None:
    """D-04: 25006 after a failover to a standby; reads go on."""
    url = f"{schema}&options=-c%20default_transaction_read_only%3Don"
    store = PostgresStore.open(url, timeout_s=TIMEOUT_S)
    store.head()
    with pytest.raises(Transient, match="read-only"):
        store.ping()
    with pytest.raises(Transient, match="25006"):
        store.acquire_lease("a", 60.0)
    store.close()


def _answers(store: PostgresStore) -> bool:
    try:
        store.ping()
    except Transient:
        return False
    return True


def _name(schema: str) -> str:
    return schema.rpartition("schema=")[2]


def _end_all(private: PrivatePostgres) -> None:
    ours = "FROM pg_stat_activity WHERE application_name = 'msgx'"
    with connect(private.url) as admin:
        admin.execute(f"SELECT pg_terminate_backend(pid) {ours}")
        wait_until(lambda: admin.execute(f"SELECT 1 {ours}").fetchone() is None, "connections do not end")


def _waits(private: PrivatePostgres) -> bool:
    with connect(private.url) as admin:
        found = admin.execute(
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'msgx' AND wait_event_type = 'Lock'"
        )
        return found.fetchone() is not None
