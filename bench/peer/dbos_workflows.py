"""DBOS: one workflow a message, each started when the one before has ended, so that they are in order.

As its documentation advises: PostgreSQL for its own tables, LISTEN/NOTIFY on. `datasource`: the effect is a
transaction of its datasource, which keeps the step's result with the effect; `steps`: effect and cache are a
step each; `step`: both in one. Workflows are called, not enqueued: nothing waits for a poll.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import redis
from dbos import DBOS, DBOSConfig, SQLAlchemyDatasource
from sqlalchemy import text

from bench.peer import work

Flow = Callable[[int, str], None]
VARIANTS = ("datasource", "steps", "step")


def _alchemy(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


class _Flow:
    """The workflow in its variants; the process is up when it is made."""

    def __init__(self, url: str, redis_url: str) -> None:
        config: DBOSConfig = {"name": "peer", "system_database_url": url, "log_level": "ERROR"}
        DBOS(config=config)
        self.cache = redis.Redis.from_url(redis_url)
        self.store = psycopg.connect(url, autocommit=True)
        self.data = SQLAlchemyDatasource.create(_alchemy(url))
        self.inputs = work.inputs(url)

    def run(self, count: int, variant: str) -> None:
        """So many workflows, one after the other."""
        flow = {"datasource": self._datasource, "steps": self._steps, "step": self._step}[variant]()
        for number, (raw, _) in list(self.inputs.items())[:count]:
            flow(number, raw)

    def _datasource(self) -> Flow:
        effect_sql = text("SELECT floor.APPLY(:n)")

        @self.data.transaction
        def effect(n: int) -> None:
            self.data.sql_session().execute(effect_sql, {"n": n})

        @DBOS.step()
        def keep(n: int) -> None:
            self.cache.set(work.key(n), self.inputs[n][1])

        @DBOS.workflow()
        def message(n: int, raw: str) -> None:
            work.decode(raw)
            effect(n)
            keep(n)

        DBOS.launch()
        made: Flow = message
        return made

    def _steps(self) -> Flow:
        @DBOS.step()
        def effect(n: int) -> None:
            self.store.execute(work.EFFECT, (n,), prepare=True)

        @DBOS.step()
        def keep(n: int) -> None:
            self.cache.set(work.key(n), self.inputs[n][1])

        @DBOS.workflow()
        def message(n: int, raw: str) -> None:
            work.decode(raw)
            effect(n)
            keep(n)

        DBOS.launch()
        made: Flow = message
        return made

    def _step(self) -> Flow:
        @DBOS.step()
        def effect(n: int) -> None:
            self.store.execute(work.EFFECT, (n,), prepare=True)
            self.cache.set(work.key(n), self.inputs[n][1])

        @DBOS.workflow()
        def message(n: int, raw: str) -> None:
            work.decode(raw)
            effect(n)

        DBOS.launch()
        made: Flow = message
        return made


def main() -> None:
    """`run` works messages off; there is nothing to fill."""
    options = work.options(*VARIANTS)
    flow = _Flow(options.url, options.redis)
    try:
        work.measured(
            lambda: flow.run(options.count, options.variant), options.count, profile=options.profile
        )
    finally:
        DBOS.destroy()


if __name__ == "__main__":
    main()
