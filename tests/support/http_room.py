"""The HTTP interface on a daemon inside the test, and a client that is not ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
from attrs import define

from msgx_app.backends import open_metrics, system_clock
from msgx_app.http.front import Front
from msgx_app.settings import Settings, load_settings
from msgx_app.settings.network import Bind
from msgx_core.ports import Store
from msgx_core.ports.operations import MessageFilter
from processes import IN_MEMORY, Served, served, wait_for

QUICK = {"msgx.http.rate": "10000"}
HERE = Bind("127.0.0.1", 0)
EVERYWHERE = Bind("0.0.0.0", 0)


@define
class Room:
    """A running interface, its daemon, and a client of it."""

    daemon: Served
    front: Front
    client: httpx.Client
    address: tuple[str, int]

    @property
    def store(self) -> Store:
        """The daemon's store."""
        return self.daemon.container.store

    def get(self, path: str, **more: Any) -> httpx.Response:
        """An answer, whatever it is."""
        return self.client.get(path, **more)

    def json(self, path: str, **more: Any) -> Any:
        """The JSON of a good answer."""
        answer = self.get(path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, **body: Any) -> httpx.Response:
        """An action with a JSON body."""
        return self.client.post(f"/api/v1/{path}", json=body)

    def send(self, raw: bytes, **more: Any) -> httpx.Response:
        """A message into the mailbox."""
        return self.client.post("/cminmsgs/send", content=raw, **more)

    def finish(self, *raws: bytes) -> list[int]:
        """Send messages and wait for their ends; their ids."""
        ids = [int(self.send(raw).raise_for_status().json()["MSG_ID"]) for raw in raws]
        self.settle(ids)
        return ids

    def settle(self, ids: list[int]) -> None:
        """Wait until these messages have come to an end."""

        def done() -> bool:
            rows = self.store.messages(MessageFilter(limit=100_000))
            ended = {row["MSG_ID"] for row in rows if row["STATE"] not in ("PENDING", "FAILED")}
            return ended.issuperset(ids)

        wait_for(f"the ends of {ids}", done)


def settings_of(folder: Path | None = None, **more: str) -> Settings:
    """Everything in memory, or (with a folder) mailbox and store in files; keywords as `http_rate`."""
    files = {}
    if folder is not None:
        files = {
            "msgx.mailbox.url": f"sqlite:///{folder}/mailbox.db",
            "msgx.store.url": f"sqlite:///{folder}/store.db",
            "msgx.archive.url": f"file:{folder}/archive",
        }
    given = {f"msgx.{name.replace('_', '.', 1).replace('_', '-')}": value for name, value in more.items()}
    return load_settings(None, {}, {**IN_MEMORY, **QUICK, **files, **given}).settings


@contextmanager
def http_room(settings: Settings | None = None, *, bind: Bind = HERE, active: bool = True) -> Iterator[Room]:
    """An interface on a free port; not `active`: its daemon is not started."""
    settings = settings_of() if settings is None else settings
    with ExitStack() as opened:
        metrics = open_metrics(system_clock())
        daemon = opened.enter_context(served(settings, metrics))
        front = Front(
            settings,
            bind,
            monitor=daemon.monitor,
            metrics=metrics,
            telemetry=daemon.tally,
            clock=daemon.container.clock,
            holder=daemon.holder,
        )
        front.opened(daemon.container)
        front.start()
        opened.callback(front.stop)
        address = front.address(20.0)
        assert address is not None, daemon.tally.events()[-1:]
        base = f"http://127.0.0.1:{address[1]}"
        client = opened.enter_context(httpx.Client(base_url=base, trust_env=False, timeout=20.0))
        if active:
            daemon.start()
            wait_for("the lease", lambda: client.get("/health/ready").status_code == 200)
        yield Room(daemon, front, client, address)
