"""`msgx cache rebuild`: the snapshot cache made again from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.jobs import Leaving, NoWait, ViaDaemon, WaitAtMost, leave
from msgx_app.cli.options import Actor, Common, OptionalReason, command
from msgx_core.model.job import JobKind

app = new_app()

_REMEDY = "let it do this: msgx cache rebuild --via-daemon"


@app.callback()
def cache() -> None:
    """The snapshot cache that consumers read.

    \b
    Example:
      msgx cache rebuild
    """


@app.command("rebuild")
@command("msgx cache rebuild", 'msgx cache rebuild --via-daemon --reason "Redis was replaced"')
def rebuild(
    common: Common,
    *,
    via_daemon: ViaDaemon = False,
    no_wait: NoWait = False,
    wait_at_most: WaitAtMost = None,
    reason: OptionalReason = None,
    actor: Actor = None,
) -> None:
    """Make the cache exactly the live flights of the store.

    Needs the lease: while another instance is at work it exits with 1 and names it.

    With --via-daemon it is left to the holder as a job, and its end is waited for: 0 when it is done, 1
    when it failed, has not ended in time, or nobody holds the lease. The job stays: `msgx jobs` lists it, the
    next holder runs it.
    """
    how = Leaving(via_daemon, no_wait, wait_at_most, reason, actor)
    if how.wanted:
        leave(common, JobKind.CACHE_REBUILD, how, lambda job: print(job.detail))
        return
    _rebuild(common)


def _rebuild(common: Common) -> None:
    from msgx_app.cli.supervise import holder_name, lease_held
    from msgx_app.container import open_container

    settings = common.load().settings
    with open_container(settings, log="console") as container:

        def waiting(holder: str) -> None:
            output.note(f"waiting: {holder} holds the lease, or was killed and left it")

        lease = lease_held(container, holder_name("cache-rebuild"), waiting=waiting, remedy=_REMEDY)
        with lease, _progress() as show:
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
