"""What a frozen PostgreSQL executes after we gave up on it: an outage has one alert all the same (D-04)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from attrs import evolve

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.errors import Transient
from msgx_core.model.outage import Outage
from msgx_core.testing.builders import NOW, later
from services.base import wait_until
from services.postgres import POSTGRES, PrivatePostgres, connect, own_schema, private_postgres

TIMEOUT_S = 1.0
DOWN = Outage("cache", NOW, "gone")
OVER = evolve(DOWN, ended_at=later(5))
WORDS = "cache does not answer: gone"


@pytest.fixture(scope="module")
def private() -> Iterator[PrivatePostgres]:
    """A server that is ours to freeze, whatever else is found."""
    with POSTGRES.found(), private_postgres() as made:
        yield made


@pytest.fixture
def store(private: PrivatePostgres) -> Iterator[PostgresStore]:
    with own_schema(private.url) as url:
        made = PostgresStore.open(url, timeout_s=TIMEOUT_S, statement_timeout_s=60 * TIMEOUT_S)
        made.acquire_lease("a", 600.0)
        yield made
        made.close()


@pytest.mark.parametrize(
    ("lost", "after"),
    [([DOWN], [DOWN, OVER]), ([DOWN, DOWN], [OVER]), ([DOWN, OVER], [OVER]), ([OVER], [OVER])],
)
def test_one_alert_whatever_is_executed_late(
    private: PrivatePostgres, store: PostgresStore, lost: Sequence[Outage], after: Sequence[Outage]
) -> None:
    """Notes that got no answer are executed at the thaw, beside those that are sent then."""
    store.outages()
    private.server.freeze()
    try:
        for note in lost:
            with pytest.raises(Transient):
                store.note_outage(note, WORDS, NOW)
    finally:
        private.server.thaw()
    for note in after:
        store.note_outage(note, WORDS, NOW)
    wait_until(lambda: _is_quiet(private), "statements are still under way", 10)
    assert [alert.get("ENDED_AT") for alert in store.alerts()] == [OVER.ended_at]
    assert [(outage.since, outage.ended_at) for outage in store.outages()] == [(NOW, OVER.ended_at)]


def _is_quiet(private: PrivatePostgres) -> bool:
    with connect(private.url) as admin:
        busy = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'msgx' AND state <> 'idle'"
        return admin.execute(busy).fetchone() is None
