"""`msgx run` and `msgx drain`."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from msgx_app.cli.errors import EXIT_INTERRUPTED, EXIT_NEGATIVE, Exiting
from msgx_app.cli.options import Common, command
from msgx_app.cli.output import note, on_terminal, people, print_facts, print_json

if TYPE_CHECKING:
    from msgx_app.container import Container
    from msgx_app.daemon.tally import Tally
    from msgx_core.pipeline.pipeline import DrainReport

_REDRAW_S = 0.15


@command("msgx run", "msgx run --config /etc/msgx/msgx.toml --json 2>>msgx.log")
def run(common: Common) -> None:
    """The daemon: takes messages in, processes them, writes back and sends events until it is stopped.

    It logs on standard error, as JSON lines unless that is a terminal. SIGTERM or Ctrl-C stops it within
    ten seconds. While another instance holds the lease it stands by; while a service is down it waits. It
    answers on msgx.http.bind: API, health and metrics.
    """
    from msgx_app import backends
    from msgx_app.beside import beside
    from msgx_app.cli.supervise import holder_name, stop_on_signals
    from msgx_app.daemon import run_daemon

    settings = common.load().settings
    clock, holder = backends.system_clock(), holder_name("run")
    lines = backends.open_telemetry(clock, _log(common))
    with stop_on_signals() as stop, beside(settings, clock, lines, holder=holder) as by:
        end = run_daemon(
            settings,
            stop,
            holder=holder,
            clock=clock,
            telemetry=by.telemetry,
            monitor=by.monitor,
            on_open=by.opened,
        )
    if not end.clean:
        # A step that would not end must not keep us: it is rolled back, and the lease runs out.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@command("msgx drain", "msgx drain --json")
def drain(common: Common) -> None:
    """Take in, process, write back and send events until nothing is left.

    Exits with 0 when nothing is left, 1 when something waits for its next attempt (it says what, until
    when and why) or another instance is at work, 4 when a service does not answer. It can be
    interrupted, or killed, at any time without harm.
    """
    from msgx_app import backends
    from msgx_app.cli.supervise import Interrupted, holder_name, lease_held, stop_on_signals
    from msgx_app.container import open_container
    from msgx_app.daemon.tally import Tally

    settings = common.load().settings
    clock = backends.system_clock()
    tally = Tally(clock, backends.open_telemetry(clock, _log(common)))
    started_s = time.monotonic()
    with stop_on_signals() as stop, open_container(settings, clock=clock, telemetry=tally) as container:
        container.pipeline.pin()
        try:
            with lease_held(container, holder_name("drain"), stop=stop, waiting=_waiting) as grant:
                container.pipeline.prepare(grant)
                with _progress(tally):
                    report = _drained(container, stop)
                summary = _summary(container, tally, report, time.monotonic() - started_s)
        except Interrupted:
            raise Exiting(EXIT_INTERRUPTED) from None
    _print(summary, as_json=common.as_json)
    if report.stopped:
        raise Exiting(EXIT_INTERRUPTED)
    if not summary.nothing_left:
        raise Exiting(EXIT_NEGATIVE)


@frozen
class Summary:
    """What a drain did and what it left. `waiting` is the head that waits for its next attempt."""

    report: DrainReport
    finished: dict[str, int]
    waiting: dict[str, Any] | None
    writebacks_left: int
    writeback_due: datetime | None
    events_left: int
    duration_s: float

    @property
    def nothing_left(self) -> bool:
        """Whether all is done."""
        return self.waiting is None and not self.writebacks_left and not self.events_left


def _log(common: Common) -> Literal["json", "console"]:
    return "console" if sys.stderr.isatty() and not common.as_json else "json"


def _waiting(holder: str) -> None:
    note(f"waiting: {holder} holds the lease, or was killed and left it")


def _drained(container: Container, stop: threading.Event) -> DrainReport:
    from msgx_app.cli.supervise import LeaseBusy
    from msgx_core.errors import Fenced

    try:
        return container.pipeline.drain(stop.is_set)
    except Fenced as error:
        view = container.store.lease()
        raise LeaseBusy(view.holder or "another instance", view.expires_in_s) from error


def _summary(container: Container, tally: Tally, report: DrainReport, duration_s: float) -> Summary:
    waiting = None
    if report.waiting_msg_id is not None:
        row = container.store.message(report.waiting_msg_id) or {}
        keys = ("MSG_ID", "STATE", "ERROR_CODE", "REASON", "DETAIL", "ATTEMPTS", "NEXT_ATTEMPT_AT")
        waiting = {key: row[key] for key in keys if key in row}
    counts = container.store.counts()
    owed = counts.writeback_pending if container.settings.mailbox.write_enabled else 0
    unsent = sum(statuses.get("PENDING", 0) for statuses in counts.events.values())
    first = container.store.writebacks(limit=1) if owed else ()
    due = first[0].get("BACKFILL_NEXT_AT") if first else None
    finished = tally.by("msgx.process.terminal", "state")
    return Summary(report, finished, waiting, owed, due, unsent, duration_s)


def _print(summary: Summary, *, as_json: bool) -> None:
    report = summary.report
    facts: dict[str, Any] = {
        "TAKEN_IN": report.taken_in,
        "FINISHED": summary.finished,
        "WRITTEN_BACK": report.written_back,
        "EVENTS_SENT": report.events_sent,
        "REQUESTS_SENT": report.requests_sent or None,
        "DURATION_S": round(summary.duration_s, 3),
        "STOPPED": report.stopped,
        "WAITING": summary.waiting,
        "WRITEBACKS_LEFT": summary.writebacks_left,
        "EVENTS_LEFT": summary.events_left,
    }
    if as_json:
        print_json(facts)
        return
    states = ", ".join(f"{n} {state}" for state, n in summary.finished.items())
    print_facts(
        [
            ("taken in", report.taken_in),
            ("finished", states or "0"),
            ("written back", report.written_back),
            ("events sent", report.events_sent),
            ("requests sent", report.requests_sent or None),
            ("duration", f"{summary.duration_s:.1f} s"),
            ("write-backs left", summary.writebacks_left or None),
            ("events left", summary.events_left or None),
        ],
        title="interrupted" if report.stopped else "drained",
    )
    if summary.waiting is not None:
        note(_waiting_text(summary.waiting))
    if summary.writebacks_left:
        due = people(summary.writeback_due) or "their next attempt"
        note(f"write-backs: the first waits until {due}; `msgx writeback` lists them, the log says why")
    if summary.events_left:
        note("events: they wait for their next attempt; `msgx outbox --pending` says since when and why")


def _waiting_text(row: dict[str, Any]) -> str:
    why = " ".join(str(row[key]) for key in ("ERROR_CODE", "REASON") if key in row)
    detail = f" ({people(row['DETAIL'])})" if "DETAIL" in row else ""
    until = people(row.get("NEXT_ATTEMPT_AT")) or "its next attempt"
    return f"message {row['MSG_ID']} waits until {until} after attempt {row['ATTEMPTS']}: {why}{detail}"


@contextmanager
def _progress(tally: Tally) -> Iterator[None]:
    """What has been done so far, on a terminal, while the body runs."""
    if not (on_terminal() and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console
    from rich.status import Status

    done = threading.Event()
    with Status(_progress_text(tally), console=Console(stderr=True)) as status:

        def redraw() -> None:
            while not done.wait(_REDRAW_S):
                status.update(_progress_text(tally))

        thread = threading.Thread(target=redraw, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _progress_text(tally: Tally) -> str:
    taken_in = tally.total("msgx.intake.inserted")
    finished = tally.total("msgx.process.terminal")
    marked = tally.total("msgx.backfill.done")
    sent = tally.total("msgx.event.sent")
    return f"taken in {taken_in}, finished {finished}, written back {marked}, events sent {sent}"
