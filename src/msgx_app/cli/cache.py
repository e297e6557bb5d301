"""`msgx cache rebuild`: the snapshot cache made again from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.options import Common, command

app = new_app()


@app.callback()
def cache() -> None:
    """The snapshot cache that consumers read.

    \b
    Example:
      msgx cache rebuild
    """


@app.command("rebuild")
@command("msgx cache rebuild")
def rebuild(common: Common) -> None:
    """Make the cache exactly the live flights of the store.

    Needs the lease: while another instance is at work it exits with 1 and names it.
    """
    from msgx_app.cli.supervise import holder_name, lease_held
    from msgx_app.container import open_container

    settings = common.load().settings
    with open_container(settings, log="console") as container:

        def waiting(holder: str) -> None:
            output.note(f"waiting: {holder} holds the lease, or was killed and left it")

        with lease_held(container, holder_name("cache-rebuild"), waiting=waiting), _progress() as show:
            flights = container.pipeline.cache_keeper.rebuild(show)
        volatile = container.cache.volatile
    if volatile:
        output.note(
            f"{settings.cache.url} lives in each process and is filled at its start; nothing remains of this"
        )
    if common.as_json:
        output.print_json({"FLIGHTS": flights})
    else:
        print(f"{flights} flights are in the cache")


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    if not output.on_terminal():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("rebuilding the cache", console=Console(stderr=True)) as status:
        yield lambda done: status.update(f"rebuilding the cache: {done} flights")
