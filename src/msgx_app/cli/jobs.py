"""Work that is left to the daemon: `--via-daemon` of two commands, and `msgx jobs` (D-34)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import frozen

from msgx_app.answers.operations import job_row
from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_INTERRUPTED, EXIT_NEGATIVE, Exiting, Negative
from msgx_app.cli.listing import print_list
from msgx_app.cli.options import Common, Limit, audit, command
from msgx_core.model.job import Job, JobKind, JobState

if TYPE_CHECKING:
    from msgx_app.cli.parts import WithStore
    from msgx_core.ports import JobAsked

COLUMNS = "JOB_ID KIND STATE CREATED_AT STARTED_AT ENDED_AT DETAIL COUNTS".split()
WAIT_AT_MOST_S = 600.0
_GLANCE_S = 0.2
_GRACE_S = 0.5
_NOBODY = "no instance holds the lease; it waits for the next `msgx run` (or do it now, without --via-daemon)"

ViaDaemon = Annotated[
    bool,
    typer.Option("--via-daemon", help="Leave it to the instance that holds the lease, and wait for the end."),
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="With --via-daemon: return at once, with the number of the job.")
]
WaitAtMost = Annotated[
    float | None,
    typer.Option(
        "--wait-at-most",
        metavar="SECONDS",
        min=0.0,
        help=f"With --via-daemon: how long to wait; default: {WAIT_AT_MOST_S:g}.",
    ),
]


@frozen
class Leaving:
    """How a command is left to the daemon: what was given with `--via-daemon`, or in error without."""

    via_daemon: bool
    no_wait: bool = False
    wait_at_most_s: float | None = None
    reason: str | None = None
    actor: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether it is left; options that mean nothing otherwise are a usage error."""
        given = {
            "--no-wait": self.no_wait or None,
            "--wait-at-most": self.wait_at_most_s,
            "--reason": self.reason,
            "--actor": self.actor,
        }
        alone = [name for name, value in given.items() if value is not None]
        if alone and not self.via_daemon:
            raise typer.BadParameter("it goes with --via-daemon", param_hint=alone[0])
        if self.no_wait and self.wait_at_most_s is not None:
            raise typer.BadParameter("it goes without --no-wait", param_hint="--wait-at-most")
        return self.via_daemon


@command("msgx jobs", "msgx jobs --limit 5 --json")
def jobs(common: Common, *, limit: Limit = None) -> None:
    """Work that was left to the daemon with --via-daemon, and what came of it, newest first.

    STARTED_AT is when it was begun for the first time; one whose instance is gone is begun again.
    """
    from msgx_app.cli.parts import with_store

    with with_store(common) as at:
        print_list(
            common,
            lambda n: [job_row(each, at.store.lease) for each in at.store.jobs(n)],
            COLUMNS,
            limit=limit,
            empty="no jobs",
        )


def leave(common: Common, kind: JobKind, how: Leaving, show: Callable[[Job], None]) -> None:
    """Leave a job to the holder and wait for its end; `show` prints one that is done, for people.

    Exits with 1 when it failed, has not ended in time, or nobody holds the lease; it stays what it is then.
    """
    from msgx_app.cli.parts import with_store
    from msgx_app.cli.supervise import stop_on_signals

    who = audit(how.actor, how.reason or f"left with --via-daemon: {kind.value}")
    with stop_on_signals() as stop, with_store(common) as at:
        asked = at.store.ask_job(kind, who, at.clock.now())
        _tell(asked, _holder(at), no_wait=how.no_wait)
        if how.no_wait:
            _print(common, at, asked.job, lambda job: print(job.job_id))
            return
        at_most_s = WAIT_AT_MOST_S if how.wait_at_most_s is None else how.wait_at_most_s
        with _progress(kind) as tell:
            job, why = _Waiting(at, stop, at_most_s, tell).end(asked.job)
        _print(common, at, job, show if job.state is JobState.DONE else lambda job: None)
    if stop.is_set() and job.is_open:
        output.note(f"job {job.job_id} goes on without us; `msgx jobs` tells what becomes of it")
        raise Exiting(EXIT_INTERRUPTED)
    if job.state is not JobState.DONE:
        output.note(f"msgx: {why}")
        raise Exiting(EXIT_NEGATIVE)


@frozen
class _Waiting:
    """Looks at a job until it has ended, or there is no sense in it."""

    at: WithStore
    stop: threading.Event
    at_most_s: float
    tell: Callable[[Job], None]

    def end(self, job: Job) -> tuple[Job, str]:
        """The job as it was seen last, and in words why it is not done."""
        began_s = held_s = time.monotonic()
        patience_s = self.at.settings.lease.expiry.total_seconds() + _GRACE_S
        while True:
            found = self.at.store.job(job.job_id)
            if found is None:
                raise Negative(f"job {job.job_id} is gone: it ended, and retention has removed it")
            job = found
            self.tell(job)
            if not job.is_open:
                return job, f"job {job.job_id} failed: {job.detail}"
            now_s = time.monotonic()
            holder = _holder(self.at)
            held_s = held_s if holder is None else now_s
            # One that was killed leaves its lease, and another takes over when that runs out.
            late = now_s - began_s >= self.at_most_s
            if holder is None and (late or now_s - held_s >= patience_s):
                return job, f"job {job.job_id} is not done: {_NOBODY}"
            if late:
                return job, _late(job, self.at_most_s)
            if self.stop.wait(min(_GLANCE_S, max(0.01, began_s + self.at_most_s - now_s))):
                return job, "interrupted"


def _late(job: Job, at_most_s: float) -> str:
    where = f"it is {job.state.value}" + (f" and {job.detail}" if job.detail else "")
    told = f"job {job.job_id} has not ended within {at_most_s:g} s: {where}"
    return f"{told}; it stays, `msgx jobs` tells what becomes of it"


def _holder(at: WithStore) -> str | None:
    view = at.store.lease()
    return view.holder if view.holder is not None and view.expires_in_s > 0 else None


def _tell(asked: JobAsked, holder: str | None, *, no_wait: bool) -> None:
    number = f"job {asked.job.job_id}" + (", which waited already" if asked.joined else "")
    if holder is not None:
        output.note(f"{number}: left to {holder}")
    elif no_wait:
        output.note(f"{number}: {_NOBODY}")
    else:
        output.note(f"{number}: no instance holds the lease; waiting a moment for one")


def _print(common: Common, at: WithStore, job: Job, show: Callable[[Job], None]) -> None:
    if common.as_json:
        output.print_json(job_row(job, at.store.lease))
    else:
        show(job)


@contextmanager
def _progress(kind: JobKind) -> Iterator[Callable[[Job], None]]:
    """On a terminal, how far the job is."""
    if not output.on_terminal():
        yield lambda job: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status(kind.value, console=Console(stderr=True)) as status:
        yield lambda job: status.update(_progress_text(job))


def _progress_text(job: Job) -> str:
    counts = ", ".join(f"{n} {name.lower()}" for name, n in job.counts.items() if n)
    parts = [f"{job.kind.value}: {job.state.value}", job.detail or "", counts]
    return ", ".join(part for part in parts if part)
