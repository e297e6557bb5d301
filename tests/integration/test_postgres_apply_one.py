"""The short way of step 1 leaves what the long way leaves, row by row (D-01)."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

from embedded import SHANGHAI
from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.store_postgres import PostgresStore, applying
from msgx_core.model.change import Change, FlightPut
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.pipeline import Pipeline, PipelineConfig
from msgx_core.rules.policy import Policy
from msgx_core.testing.clock import ManualClock
from services.postgres import POSTGRES, Tables, own_schema, schema_of
from verified import traffic

POLICY = Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI, flop_whitelist=whitelist("extended"))
_OF_ONE_STORE = {"lease", "store_info"}
MESSAGES = 400


def after_traffic() -> dict[str, list[str]]:
    """Every row of every table after a simulated day."""
    clock = ManualClock(datetime(2027, 3, 14, tzinfo=UTC))
    inbox = MemoryInbox(zone=SHANGHAI, clock=clock)
    with POSTGRES.found() as server, own_schema(server) as url:
        pipeline = Pipeline(
            inbox=inbox,
            store=PostgresStore.open(url),
            cache=MemoryCache(),
            bus=MemoryBus(),
            codec=LxmlCodec(),
            clock=clock,
            config=PipelineConfig(policy=POLICY),
        )
        assert pipeline.start("one", 60.0).granted
        inbox.send_many(list(islice(traffic(1, 40), MESSAGES)))
        pipeline.drain()
        pipeline.store.close()
        tables = Tables(url)
        schema = schema_of(url)
        names = (
            f"SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'"
        )
        found = {
            name: [row["R"] for row in tables.rows(f"SELECT to_jsonb(T)::text AS R FROM {name} T ORDER BY 1")]
            for name in sorted({row["RELNAME"] for row in tables.rows(names)} - _OF_ONE_STORE)
        }
        tables.close()
    return found


def test_both_ways_leave_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times, numbers and events too; both are taken often enough to say something."""
    ways: Counter[str] = Counter()
    choose = applying._only_put

    def counted(change: Change) -> FlightPut | None:
        put = choose(change)
        ways["long" if put is None else "short"] += 1
        return put

    monkeypatch.setattr(applying, "_only_put", counted)
    short: Any = after_traffic()
    assert ways["short"] > MESSAGES / 3
    assert ways["long"] > 0
    monkeypatch.setattr(applying, "_only_put", lambda change: None)
    assert after_traffic() == short
