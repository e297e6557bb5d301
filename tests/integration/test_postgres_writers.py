"""Several writers on one PostgreSQL store: second instances, takeovers, poolers (D-27, D-34)."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.errors import Conflict, Fenced
from msgx_core.model.change import FlightQuery
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.flight import FieldValue
from msgx_core.model.message import Element
from msgx_core.testing.builders import (
    AUDIT,
    NOW,
    apply,
    binding,
    change,
    enqueue,
    flight,
    later,
    put,
    request,
)
from services.base import NotHere, unavailable, wait_until
from services.postgres import POSTGRES, Tables, connect, empty, own_schema, pooler, schema_of, server_of

SHORT_S = 0.2


@pytest.fixture(scope="module")
def made() -> Iterator[str]:
    with POSTGRES.found() as server, own_schema(server) as url:
        yield url


@pytest.fixture
def schema(made: str) -> str:
    empty(made)
    return made


@pytest.fixture
def store(schema: str) -> Iterator[PostgresStore]:
    store = PostgresStore.open(schema)
    store.acquire_lease("a", 60.0)
    yield store
    store.close()


@pytest.fixture
def standby(schema: str) -> Iterator[PostgresStore]:
    store = PostgresStore.open(schema)
    yield store
    store.close()


@pytest.fixture
def tables(schema: str) -> Iterator[Tables]:
    found = Tables(schema)
    yield found
    found.close()


def test_ids_are_consecutive_in_commit_order_whoever_writes_beside(
    store: PostgresStore, standby: PostgresStore, tables: Tables
) -> None:
    """D-27: another process writes to the store, one that was fenced tries to; a watcher sees no gap."""
    standby.epoch = 0
    stop = threading.Event()
    fenced, gaps = [], []

    def operator() -> None:
        while not stop.is_set():
            standby.create_request(request(), AUDIT, NOW)
            try:
                standby.apply(change(1, put(flight(7))))
            except Fenced as error:
                fenced.append(error)

    def watch() -> None:
        other = _tables_of(store)
        while not stop.is_set():
            ids = [row["EVENT_ID"] for row in other.rows("SELECT EVENT_ID FROM MSG_EVENT ORDER BY EVENT_ID")]
            if len(set(ids)) != max(ids, default=0):
                gaps.append(ids)
        other.close()

    threads = [threading.Thread(target=operator), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    try:
        for msg_id in range(1, 101):
            apply(store, msg_id, *[put(flight(100 * msg_id + n)) for n in range(msg_id % 3)])
    finally:
        stop.set()
        for thread in threads:
            thread.join(10)
    assert fenced
    assert gaps == []
    rows = tables.rows(
        "SELECT E.EVENT_ID, P.APPLY_NO FROM MSG_EVENT E JOIN PROC_STATE P USING (MSG_ID)"
        " WHERE TARGET = 'KAFKA:msg' ORDER BY EVENT_ID"
    )
    assert [row["EVENT_ID"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["APPLY_NO"] for row in rows] == sorted(row["APPLY_NO"] for row in rows)


def _tables_of(store: PostgresStore) -> Tables:
    options = store.pool.target.options
    user, host, port = options["user"], options["host"], options.get("port", "5432")
    return Tables(f"postgresql://{user}@{host}:{port}/{options['dbname']}?schema={store.pool.target.schema}")


def test_a_takeover_waits_for_a_running_step(
    schema: str, store: PostgresStore, standby: PostgresStore, tables: Tables
) -> None:
    """R-015, R-105, D-34: whoever holds the lock of the pipeline ends first; then the stale leader is
    fenced."""
    enqueue(store, 1)
    store.acquire_lease("a", SHORT_S)
    time.sleep(2 * SHORT_S)
    with connect(server_of(schema)) as step, ThreadPoolExecutor(2) as threads:
        step.autocommit = False
        step.execute(f"SELECT * FROM {schema_of(schema)}.PIPELINE_LOCK FOR UPDATE")
        takeover = threads.submit(standby.acquire_lease, "b", 60.0)
        wait_until(lambda: _waiting(tables) == 1, "the takeover does not wait")
        late = threads.submit(store.apply, change(1, put(flight(7))))
        wait_until(lambda: _waiting(tables) == 2, "the late step does not wait")
        step.rollback()
        assert takeover.result(10).granted
        with pytest.raises(Fenced) as caught:
            late.result(10)
    assert (caught.value.epoch, caught.value.current) == (2, 3)
    assert store.flight(7) is None
    standby.apply(change(1, put(flight(7))))
    assert {row["EPOCH"] for row in tables.rows("SELECT EPOCH FROM FLIGHT_SCHD")} == {3}


def test_a_takeover_that_waited_for_a_living_holder_is_refused(
    schema: str, store: PostgresStore, standby: PostgresStore, tables: Tables
) -> None:
    """D-34: step 1 extends the lease, so a long one is no reason to lose it."""
    enqueue(store, 1)
    store.acquire_lease("a", SHORT_S)
    store.lease_expiry_s = 60.0
    time.sleep(2 * SHORT_S)
    name = schema_of(schema)
    with connect(server_of(schema)) as step, ThreadPoolExecutor(2) as threads:
        step.autocommit = False
        step.execute(f"SELECT * FROM {name}.PIPELINE_LOCK FOR UPDATE")
        applied = threads.submit(store.apply, change(1))
        wait_until(lambda: _waiting(tables) == 1, "step 1 does not wait")
        takeover = threads.submit(standby.acquire_lease, "b", 60.0)
        wait_until(lambda: _waiting(tables) == 2, "the takeover does not wait")
        step.rollback()
        assert applied.result(10) == 1
        assert not takeover.result(10).granted


def test_renewing_and_asking_do_not_wait_for_a_step(
    schema: str, store: PostgresStore, standby: PostgresStore
) -> None:
    """D-34: a long step 1 neither costs the lease nor is disturbed by a standby."""
    with connect(server_of(schema)) as step:
        step.autocommit = False
        step.execute(f"SELECT * FROM {schema_of(schema)}.PIPELINE_LOCK FOR UPDATE")
        began = time.monotonic()
        store.renew_lease(60.0)
        assert not standby.acquire_lease("b", 60.0).granted
        assert store.lease().holder == "a"
        assert time.monotonic() - began < 1.0
        step.rollback()


def test_takeovers_and_steps_never_deadlock(
    store: PostgresStore, standby: PostgresStore, tables: Tables
) -> None:
    """D-34: one order of locks. Two instances take the lease from each other as fast as they can."""
    enqueue(store, *range(1, 101))
    conflicts: list[str] = []

    def work(instance: PostgresStore) -> int:
        done = 0
        while (head := instance.head()) is not None:
            try:
                instance.acquire_lease("same", 60.0)
                instance.renew_lease(60.0)
                if head.applied_at is None:
                    instance.apply(change(head.msg_id, put(flight(head.msg_id))))
                done += instance.finish(head.msg_id, NOW)
            except Fenced:
                continue
            except Conflict as error:
                conflicts.append(str(error))
        return done

    with ThreadPoolExecutor(2) as threads:
        assert sum(threads.map(work, (store, standby))) == 100
    assert not [text for text in conflicts if "deadlock" in text]
    events = tables.rows("SELECT EVENT_ID, FLID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' ORDER BY EVENT_ID")
    assert [(row["EVENT_ID"], row["FLID"]) for row in events] == [(n, n) for n in range(1, 101)]


def test_two_pipelines_on_one_database_do_not_meet(made: str, store: PostgresStore) -> None:
    """Many airports: each has its own schema, lease and ids."""
    with own_schema(server_of(made)) as url:
        other = PostgresStore.open(url)
        assert other.store_id() != store.store_id()
        assert other.acquire_lease("b", 60.0).granted
        apply(other, 1, put(flight(7)))
        assert store.flight(7) is None
        assert store.lease().holder == "a"
        other.close()


def test_a_rebuilt_flight_keeps_nothing_of_its_former_life(store: PostgresStore, tables: Tables) -> None:
    """D-07: collections of the deleted flight go, although only the tags of the new state are named."""
    apply(store, 1, put(flight(7, fields={"GTDT": ({"GATE": "A1"},), "ROUT": ({"APCD": "KMG"},)})))
    gone = flight(7, version=2, deleted=True, fields={"GTDT": ({"GATE": "A1"},), "ROUT": ({"APCD": "KMG"},)})
    apply(store, 2, put(gone))
    back = flight(7, version=3, FLNO="CA1", fields={"ROUT": ({"APCD": "PEK"},)})
    apply(store, 3, put(back, changed=("FLNO", "ROUT")))
    assert store.flight(7) == back
    assert tables.content(7) == {"FLNO": "CA1", "ROUT": [{"APCD": "PEK"}]}


def test_only_what_changed_is_written(store: PostgresStore, tables: Tables) -> None:
    """A collection that is not named stays as it is, to the row; one that is named shrinks and grows."""
    first = flight(7, fields={"GTDT": ({"GATE": "A1"}, {"GATE": "A2"}), "CKDT": ({"CHKC": "1"},)})
    apply(store, 1, put(first))
    before = tables.rows("SELECT XMIN, * FROM FLIGHT_CHECKIN")
    collections: list[tuple[Element, ...]] = [({"GATE": "B1"},), (), ({"GATE": "C1"}, {"GATE": "C2"})]
    for version, gates in enumerate(collections, start=2):
        fields: dict[str, FieldValue] = {"GTDT": gates} if gates else {}
        fields["CKDT"] = ({"CHKC": "1"},)
        state = flight(7, version=version, fields=fields)
        apply(store, version, put(state, changed=("GTDT",)))
        assert store.flight(7) == state
    assert tables.rows("SELECT XMIN, * FROM FLIGHT_CHECKIN") == before


@pytest.mark.parametrize("prepared", ["auto", "off"])
def test_behind_a_transaction_pooler(schema: str, prepared: str) -> None:
    """D-34: an old PgBouncer in transaction mode with fewer connections than we use, and two instances."""
    try:
        context = pooler(server_of(schema))
        url = context.__enter__()
    except NotHere as why:
        unavailable("PgBouncer", str(why))
    try:
        through = f"{url}?schema={schema_of(schema)}"
        store = PostgresStore.open(through, prepared=prepared)  # type: ignore[arg-type]
        standby = PostgresStore.open(through)
        store.acquire_lease("a", 60.0)
        enqueue(store, *range(1, 61))

        def one(msg_id: int) -> None:
            assert store.bind(binding(msg_id, str(msg_id)), NOW) is None
            store.apply(change(msg_id, put(flight(msg_id))))
            assert msg_id in store.read(FlightQuery(flids=frozenset({msg_id}))).flights
            assert store.finish(msg_id, NOW)
            assert not standby.acquire_lease("b", 60.0).granted

        with ThreadPoolExecutor(6) as threads:
            list(threads.map(one, range(1, 61)))
        due = store.due_events(Target.MSG, later(1), 100)
        assert [event.event_id for event in due] == list(range(1, 61))
        sent = [EventSettled(e.event_id, e.target, e.flid, e.version, EventStatus.SENT) for e in due]
        store.settle_events(sent, [], NOW)
        assert store.counts().events["KAFKA:msg"] == {"SENT": 60}
        store.close()
        standby.close()
    finally:
        context.__exit__(None, None, None)


def _waiting(tables: Tables) -> int:
    (row,) = tables.rows(
        "SELECT COUNT(*) AS n FROM pg_stat_activity"
        " WHERE application_name = 'msgx' AND wait_event_type = 'Lock'"
        f" AND query LIKE '%{_schema(tables)}%'"
    )
    return int(row["N"])


def _schema(tables: Tables) -> str:
    return str(tables.rows("SELECT current_schema() AS name")[0]["NAME"])
