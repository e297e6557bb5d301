"""`msgx sweep` and `msgx retention`: flights leave for the history store, old rows leave at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_INTERRUPTED, EXIT_SERVICE, Exiting, Negative
from msgx_app.cli.jobs import Leaving, NoWait, ViaDaemon, WaitAtMost, leave
from msgx_app.cli.options import Actor, Common, OptionalReason, command
from msgx_core.model.job import JobKind

if TYPE_CHECKING:
    from msgx_core.model.job import Job
    from msgx_core.pipeline.retention import Preview, RetentionSweep
    from msgx_core.pipeline.sweep import SweepResult

_OLD = "older than their retention"
_REMEDY = "let it do this: msgx sweep --via-daemon"
_WHY = {
    "dead": "dead, a person has to requeue or discard them",
    "pending": "not sent yet",
    "unfinished": "a message is unfinished",
    "not-written-back": "not written back to the mailbox",
    "open": "still open",
    "flights": "flights of the day are not in history",
    "late": "an answer may still come within msgx.requests.late-window",
    "requests": "a request for the day is open or may be answered late",
}
_OBJECTS = {
    "MSG_EVENT": "msgx.pipeline.event-retention",
    "PROC_STATE": "msgx.pipeline.proc-retention",
    "SCHD_SNAP_LOG": "msgx.pipeline.snap-log-retention",
    "REQ_TRACK": "msgx.pipeline.request-retention",
    "OPS_JOB": "msgx.pipeline.request-retention",
    "SCHD_GEN": "msgx.pipeline.ledger-retention",
    "HISTORY": "msgx.history.retention",
    "ARCHIVE": "msgx.archive.retention",
}


@command("msgx sweep", "msgx sweep --via-daemon --json")
def sweep(
    common: Common,
    *,
    via_daemon: ViaDaemon = False,
    no_wait: NoWait = False,
    wait_at_most: WaitAtMost = None,
    reason: OptionalReason = None,
    actor: Actor = None,
) -> None:
    """Write ended flights to the history store and remove those that it confirms.

    Needs the lease: beside a running daemon, which does this every hour, it exits with 1 and names the
    holder. What the history store rejects, answers unclearly or not at all stays for the next sweep.

    With --via-daemon it is left to the holder as a job, and its end is waited for: 0 when it is done, 1
    when it failed, has not ended in time, or nobody holds the lease. The job stays: `msgx jobs` lists it, the
    next holder runs it.
    """
    how = Leaving(via_daemon, no_wait, wait_at_most, reason, actor)
    if how.wanted:
        leave(common, JobKind.SWEEP, how, _print_job)
        return
    _sweep(common)


def _sweep(common: Common) -> None:
    from msgx_app.cli.supervise import Interrupted, holder_name, lease_held, stop_on_signals
    from msgx_app.container import open_container
    from msgx_core.pipeline.jobs import NO_HISTORY

    settings = common.load().settings
    if settings.history.url is None:
        raise Negative(f"refused: {NO_HISTORY}")
    with stop_on_signals() as stop, open_container(settings, log="console") as container:
        container.pipeline.pin()
        try:
            lease = lease_held(container, holder_name("sweep"), stop=stop, waiting=_waiting, remedy=_REMEDY)
            with lease as grant:
                container.pipeline.prepare(grant)
                with _progress() as show:
                    result = container.pipeline.sweep.run(stop.is_set, show)
        except Interrupted:
            raise Exiting(EXIT_INTERRUPTED) from None
    _print_sweep(result, as_json=common.as_json)
    if stop.is_set():
        raise Exiting(EXIT_INTERRUPTED)


@command("msgx retention --dry-run", "msgx retention")
def retention(
    common: Common,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go and why the rest stays; remove nothing.")
    ] = False,
) -> None:
    """Remove what is old enough and finished: sent events, final messages, the schedule log, closed requests;
    and by their own settings days of the ledger, of the history store and of the archive.

    Needs no lease and may run beside the daemon, which does this every hour. Each row is asked again when it
    goes: a replay that comes first wins. A dry run tells of every object; where history store or archive do
    not answer it tells the rest, and exits with 4.
    """
    from msgx_app.cli.supervise import stop_on_signals

    with stop_on_signals() as stop, _retention(common) as job:
        if dry_run:
            _preview(job, as_json=common.as_json)
            return
        removed = job.run(stop.is_set)
    if common.as_json:
        output.print_json(removed)
    else:
        output.print_facts([(name, n) for name, n in removed.items()], title="removed")
    if stop.is_set():
        raise Exiting(EXIT_INTERRUPTED)


@contextmanager
def _retention(common: Common) -> Iterator[RetentionSweep]:
    """The job on store, history and archive alone: an outage of anything else does not matter."""
    from attrs import evolve

    from msgx_app import archives, backends, histories
    from msgx_app.cli.parts import with_store
    from msgx_app.container import pipeline_config_of
    from msgx_core.pipeline.evidence import Evidence
    from msgx_core.pipeline.retention import RetentionSweep

    with with_store(common) as at, ExitStack() as opened:
        history = histories.open_history(at.settings)
        if history is not None:
            opened.callback(history.close)
        telemetry = backends.open_telemetry(at.clock, "console")
        archive = archives.open_archive(at.settings)
        if archive is not None:
            opened.callback(archive.close)
        evidence = None if archive is None else Evidence(archive, at.clock, telemetry)
        ages = evolve(pipeline_config_of(at.settings).retention, archive=at.settings.archive.retention)
        yield RetentionSweep(at.store, at.clock, telemetry, at.policy, ages, history, evidence=evidence)


@contextmanager
def _progress() -> Iterator[Callable[[SweepResult], None]]:
    if not output.on_terminal():
        yield lambda result: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("sweeping", console=Console(stderr=True)) as status:
        yield lambda r: status.update(f"sweeping: {r.seen} flights seen, {r.archived} archived")


def _waiting(holder: str) -> None:
    output.note(f"waiting: {holder} holds the lease, or was killed and left it")


def _print_job(job: Job) -> None:
    from msgx_core.pipeline.sweep import SweepResult

    _print_sweep(SweepResult(**{name.lower(): n for name, n in job.counts.items()}), as_json=False)


def _print_sweep(result: SweepResult, *, as_json: bool) -> None:
    from msgx_core.pipeline.jobs import sweep_counts

    if as_json:
        output.print_json(sweep_counts(result))
        return
    output.print_facts(
        [
            ("flights seen", result.seen),
            ("ended", result.ended),
            ("archived", result.archived),
            ("main flights told", result.notified or None),
            ("left: a message is unfinished", result.busy or None),
            ("left: not confirmed", result.unconfirmed or None),
            ("left: changed meanwhile", result.kept or None),
        ],
        title="swept",
    )


def _preview(job: RetentionSweep, *, as_json: bool) -> None:
    """Every object, also those that are kept by the settings."""
    from msgx_core.pipeline.retention import UNKNOWN

    found = job.preview()
    told = {name: found.get(name) or {"kept": _kept(job, name)} for name in _OBJECTS}
    if as_json:
        output.print_json(told)
    else:
        output.print_facts([(name, _told(each)) for name, each in told.items()], title=_OLD)
    if any(UNKNOWN in each for each in told.values()):
        raise Exiting(EXIT_SERVICE)


def _kept(job: RetentionSweep, name: str) -> str:
    if name == "HISTORY" and job.history is None:
        return "msgx.history.url is not set"
    if name == "ARCHIVE" and job.evidence is None:
        return "msgx.archive.url is off"
    return f"{_OBJECTS[name]} is off"


def _told(found: Preview) -> str:
    if "go" not in found:
        ((what, why),) = found.items()
        return f"{what}: {why}"
    stay = [f"{n} stay: {_WHY.get(why, why)}" for why, n in found.items() if why != "go"]
    return "; ".join([f"{found['go']} would go", *stay])
