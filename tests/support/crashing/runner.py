"""Processes on the real set that end by `kill -9` at a boundary: a parent that forks one for each line.

`python -m crashing.runner` reads orders as lines of JSON and answers each with how the child ended. A fork
of a process that has imported everything starts in a moment; nothing is open in the parent.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, frozen

from crashing.bench import BEGIN, RECOVERY, Bench, Parts, play, prepare, time_of
from crashing.matrix import BY_NAME
from msgx_adapters import bus_kafka, cache_redis, inbox_mysql, outbound_mysql, store_postgres
from msgx_app import archives, histories, outbounds
from msgx_app.backends import open_bus, open_cache, open_inbox, open_store
from msgx_app.settings import Settings, load_settings
from msgx_core.testing.clock import ManualClock
from services.mysql import connect

IMPORTED = (bus_kafka, cache_redis, inbox_mysql, outbound_mysql, store_postgres)
"""What the children would import each for itself."""

LEASE_S = 0.3
"""A killed process leaves its lease, and the next one need not wait long."""


@frozen
class Order:
    """What a child does: `prepare` a kind or play it.

    `crash_at`: the boundary at which it is gone; `first`: a phase to go on from.

    `notes` is a file for what it tells: the phase that it began, or the boundaries that it passed.
    """

    kind: str
    env: Mapping[str, str]
    notes: str
    prepare: bool = False
    crash_at: int | None = None
    first: int | None = None


@define
class MysqlOwner:
    """What the owners of the mailbox do to it."""

    url: str

    def _run(self, sql: str, *values: Any) -> None:
        connection = connect(self.url)
        cursor = connection.cursor()
        cursor.execute(sql, values)
        cursor.close()
        connection.close()

    def insert(self, msg_id: int, raw: bytes | None) -> None:
        """A row with an id of their choice."""
        text = None if raw is None else raw.decode()
        self._run("INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (%s, %s)", msg_id, text)

    def delete(self, msg_id: int) -> None:
        """A row goes."""
        self._run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s", msg_id)

    def mark(self, msg_id: int) -> None:
        """A row is marked by somebody else."""
        marked = "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '2027-03-14 00:00:00' WHERE CMINMSGS_ID = %s"
        self._run(marked, msg_id)


def _parts(settings: Settings, clock: ManualClock, *, history: bool) -> Parts:
    outbound = outbounds.open_outbound(settings, clock)
    archive = archives.open_archive(settings)
    assert outbound is not None
    assert archive is not None
    return Parts(
        inbox=open_inbox(settings, clock),
        outbound=outbound,
        store=open_store(settings, clock),
        cache=open_cache(settings, clock),
        bus=open_bus(settings, clock),
        archive=archive,
        owner=MysqlOwner(settings.mailbox.url.text),
        history=histories.open_history(settings) if history else None,
    )


def _bench(order: Order, clock: ManualClock) -> Bench:
    """A process on the set; a restart inside it opens the store anew and keeps the rest."""
    settings = load_settings(None, order.env, {}).settings
    kind = BY_NAME[order.kind]

    def reopen(bench: Bench, clean: bool) -> Parts:
        bench.parts.store.close()
        bench.parts.store = open_store(settings, clock)
        return bench.parts

    return Bench(kind, _parts(settings, clock, history=kind.history), reopen, clock, lease_s=LEASE_S)


def run(order: Order) -> None:
    """Prepare a kind, or play it, or go on where one that is gone had been."""
    kind, notes = BY_NAME[order.kind], Path(order.notes)
    if order.prepare:
        prepare(_bench(order, ManualClock(BEGIN)))
        return
    if order.first is not None:
        play(_bench(order, ManualClock(time_of(kind, order.first) + RECOVERY)), order.first)
        return
    bench = _bench(order, ManualClock(time_of(kind, -1)))
    passed: list[str] = []
    bench.on_step = passed.append if order.crash_at is None else _killing(order.crash_at)
    play(bench, begun=lambda number: None if order.crash_at is None else _note(notes, str(number)))
    _note(notes, json.dumps(passed))


def _note(notes: Path, text: str) -> None:
    notes.write_text(text, encoding="utf-8")


def _killing(number: int) -> Callable[[str], None]:
    left = number

    def hook(step: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def _child(order: Order) -> None:
    """Never returns."""
    try:
        run(order)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def main() -> None:
    """One child for each line of standard input."""
    for line in sys.stdin:
        order = Order(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            _child(order)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
