"""Two statements on their way at once: what becomes of each when something goes wrong (D-02, D-04)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from msgx_adapters.store_postgres import PostgresStore
from msgx_adapters.store_postgres.link import Link
from msgx_core.errors import Transient
from msgx_core.model.proc import Turn
from msgx_core.testing.builders import NOW, binding, change, enqueue
from services.base import wait_until
from services.postgres import POSTGRES, PrivatePostgres, connect, own_schema, private_postgres

TIMEOUT_S = 1.0


@pytest.fixture(scope="module")
def private() -> Iterator[PrivatePostgres]:
    """A server that is ours to freeze and to kill."""
    with POSTGRES.found(), private_postgres() as made:
        yield made


@pytest.fixture
def store(private: PrivatePostgres) -> Iterator[PostgresStore]:
    """Message 2 is applied, 3 to 5 wait; the server knows both statements."""
    with own_schema(private.url) as url:
        made = PostgresStore.open(url, timeout_s=TIMEOUT_S, statement_timeout_s=3 * TIMEOUT_S)
        made.acquire_lease("a", 60.0)
        enqueue(made, 1, 2, 3, 4, 5)
        made.apply(change(1))
        made.finish_then_bind(1, binding(2, "2"), NOW, lambda: None)
        made.apply(change(2))
        yield made
        made.close()


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of statements that went out together."""
    found: list[str] = []
    real = Link.two

    def two(link: Link, *asked: object, **more: object) -> object:
        found.extend(each[0].name for each in asked[:2])  # type: ignore[index]
        return real(link, *asked, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Link, "two", two)
    return found


def unfinished(store: PostgresStore) -> list[tuple[int, bool]]:
    """Id, and whether an identity is bound."""
    return [(row.msg_id, row.identity_key is not None) for row in store.heads(9)]


def test_they_go_out_together(store: PostgresStore, pairs: list[str]) -> None:
    """R-464: one round trip for the end of a message and the binding of the next."""
    assert store.finish_then_bind(2, binding(3, "3"), NOW, lambda: None) == Turn(done=True, bound=True)
    assert pairs == ["finish", "bind"]
    assert unfinished(store) == [(3, True), (4, False), (5, False)]


def test_a_statement_the_server_has_forgotten_goes_out_alone(store: PostgresStore, pairs: list[str]) -> None:
    """Behind a pooler, or after `DISCARD ALL`: done all the same, once."""
    for link in store.pool._idle:
        link.script("DEALLOCATE ALL", lambda waited_s: 1.0)
    assert store.finish_then_bind(2, binding(3, "3"), NOW, lambda: None) == Turn(done=True, bound=True)
    assert pairs == ["finish", "bind"]
    assert unfinished(store) == [(3, True), (4, False), (5, False)]


@pytest.mark.parametrize("what", ["freeze", "kill"])
def test_a_server_that_goes_away_meanwhile_is_an_outage(
    private: PrivatePostgres, store: PostgresStore, what: str
) -> None:
    """D-04: the call ends in time; then the head tells what has been done (D-02)."""
    schema = store.pool.target.schema
    # Who holds the lock keeps the server from answering before it is gone; killed, it goes too.
    with suppress(psycopg.OperationalError), connect(private.url) as blocker, blocker.transaction():
        blocker.execute(f'SELECT 1 FROM "{schema}".PIPELINE_LOCK FOR UPDATE')
        began = time.monotonic()
        with pytest.raises(Transient) as caught:
            store.finish_then_bind(2, binding(3, "3"), NOW, getattr(private.server, what))
        assert caught.value.service == "store"
        assert time.monotonic() - began < 2 * TIMEOUT_S + 0.5
        if what == "freeze":
            private.server.thaw()
    if what == "kill":
        private.server.start()
    wait_until(lambda: _answers(store), "the store does not come back")
    first, _ = unfinished(store)[0]
    assert first in (2, 3)
    if first == 2:
        assert store.finish(2, NOW)
    assert store.bind(binding(3, "3"), NOW, as_head=True) is None
    assert unfinished(store) == [(3, True), (4, False), (5, False)]


def test_while_they_are_on_their_way_others_go_on(store: PostgresStore) -> None:
    """Each call has a connection to itself."""
    seen: list[int] = []

    def read() -> None:
        seen.append(len(store.heads(9)))

    def meanwhile() -> None:
        other = threading.Thread(target=read)
        other.start()
        read()
        other.join(5)

    assert store.finish_then_bind(2, binding(3, "3"), NOW, meanwhile).bound
    assert len(seen) == 2
    assert unfinished(store)[0] == (3, True)


def _answers(store: PostgresStore) -> bool:
    try:
        store.ping()
    except Transient:
        return False
    return True


def test_statements_stay_prepared(private: PrivatePostgres) -> None:
    """Opening a store looks at its schema more than once: that must not look like a pooler's refusal."""
    with own_schema(private.url) as url:
        made = PostgresStore.open(url, create=True, timeout_s=TIMEOUT_S)
        made.migrate()
        assert made.schema_revision() == made.schema_revision()
        assert made.pool._prepare
        made.close()
