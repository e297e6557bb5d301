"""procrastinate: one job a message, all under one lock, so that they run one after the other in order.

As its documentation advises: PsycopgConnector with its pool, LISTEN/NOTIFY on, one worker. The worker ends
when nothing is left, so it never sleeps.
"""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import redis
import redis.asyncio
from procrastinate import App, PsycopgConnector
from procrastinate.jobs import DeleteJobCondition

from bench.peer import work

LOCK = "pipeline"
VARIANTS = ("async", "async-delete", "sync")


def _app(url: str) -> App:
    return App(connector=PsycopgConnector(conninfo=url))


async def _fill(url: str, count: int) -> None:
    app = _app(url)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        deferrer = app.configure_task("message", lock=LOCK)
        given = list(work.inputs(url).items())[:count]
        for start in range(0, len(given), 500):
            jobs: list[dict[str, Any]] = [{"n": n, "raw": raw} for n, (raw, _) in given[start : start + 500]]
            await deferrer.batch_defer_async(*jobs)


class _Worker:
    """Runs the first jobs and stops: those behind them only make the queue as long as it is."""

    def __init__(self, url: str, redis_url: str, count: int, variant: str) -> None:
        self.url = url
        self.count = count
        self.variant = variant
        self.done = 0
        self.app = _app(url)
        self.documents = {n: document for n, (_, document) in work.inputs(url).items()}
        self.redis_url = redis_url
        self.worker: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Until `count` jobs are done."""
        if self.variant == "sync":
            self._sync_task()
        else:
            await self._async_task()
        delete = DeleteJobCondition.SUCCESSFUL if self.variant == "async-delete" else DeleteJobCondition.NEVER
        async with self.app.open_async():
            running = self.app.run_worker_async(wait=False, delete_jobs=delete, install_signal_handlers=False)
            self.worker = asyncio.create_task(running)
            try:
                await self.worker
            except asyncio.CancelledError:
                if self.done < self.count:
                    raise

    def _count(self) -> None:
        self.done += 1
        if self.done >= self.count and self.worker is not None:
            self.worker.get_loop().call_soon_threadsafe(self.worker.cancel)

    async def _async_task(self) -> None:
        cache = redis.asyncio.Redis.from_url(self.redis_url)
        store = await psycopg.AsyncConnection.connect(self.url, autocommit=True)

        @self.app.task(name="message")
        async def message(n: int, raw: str) -> None:
            work.decode(raw)
            await store.execute(work.EFFECT, (n,), prepare=True)
            await cache.set(work.key(n), self.documents[n])
            self._count()

    def _sync_task(self) -> None:
        cache = redis.Redis.from_url(self.redis_url)
        store = psycopg.connect(self.url, autocommit=True)

        @self.app.task(name="message")
        def message(n: int, raw: str) -> None:
            work.decode(raw)
            store.execute(work.EFFECT, (n,), prepare=True)
            cache.set(work.key(n), self.documents[n])
            self._count()


def main() -> None:
    """`fill` puts the jobs in, `run` works some off."""
    options = work.options(*VARIANTS)
    if options.action == "fill":
        asyncio.run(_fill(options.url, options.count))
        return
    worker = _Worker(options.url, options.redis, options.count, options.variant)
    work.measured(lambda: asyncio.run(worker.run()), options.count, profile=options.profile)


if __name__ == "__main__":
    main()
