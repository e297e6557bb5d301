"""`msgx verify`: flights and reference data computed from the archive, compared with the store (D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msgx_app.cli import output, times
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting, Negative
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import Base, WithStore, with_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from msgx_app.answers.texts import Texts
    from msgx_core.pipeline.differences import Difference
    from msgx_core.pipeline.verify import Report, Window

_MOST_SHOWN = 10_000
COLUMNS = "KIND TABLE KEY FIELD STORED COMPUTED".split()
DayOption = Annotated[
    str | None, typer.Option("--from", metavar="DAY", help="Messages applied from this airport day on.")
]
LastDayOption = Annotated[
    str | None, typer.Option("--to", metavar="DAY", help="And until the end of this one.")
]


@command("msgx verify", "msgx verify --from 2027-03-14 --to 2027-03-20 --json")
def verify(common: Common, *, first: DayOption = None, last: LastDayOption = None) -> None:
    """Compute flights, rosters, reference data and events again from the archive; report every difference.

    Reads only, beside a running daemon too. A value that cannot be read is a difference. With a range,
    what began before it is left out and counted. Exits with 0 when nothing differs, else 1.
    """
    from msgx_app.answers.texts import Texts

    with with_store(common) as at:
        window = _window(at, first, last)
        with Texts(at) as texts, _progress() as show:
            if texts.no_archive is not None:
                raise Negative(f"there is no archive: {texts.no_archive}")
            report, found = _run(at, texts, window, show)
        _print(report, found, texts.from_mailbox, as_json=common.as_json)
    if not report.ok:
        raise Exiting(EXIT_NEGATIVE)


def _window(at: Base, first: str | None, last: str | None) -> Window:
    from msgx_core.pipeline.verify import Window
    from msgx_core.rules.operation_day import day_bounds

    now = at.clock.now()
    begin = None if first is None else times.parse_day(first, at.policy, now, "--from")
    end = None if last is None else times.parse_day(last, at.policy, now, "--to")
    if begin is not None and end is not None and end < begin:
        raise typer.BadParameter("the first day is after the last", param_hint="--to")
    return Window(
        None if begin is None else day_bounds(begin, at.policy)[0],
        None if end is None else day_bounds(end, at.policy)[1],
    )


def _run(
    at: WithStore, texts: Texts, window: Window, show: Callable[[int], None]
) -> tuple[Report, list[Difference]]:
    from zoneinfo import ZoneInfo

    from msgx_app import backends
    from msgx_core.pipeline.recompute import Policies
    from msgx_core.pipeline.verify import Verifier

    found: list[Difference] = []

    def keep(difference: Difference) -> None:
        if len(found) < _MOST_SHOWN:
            found.append(difference)

    policies = Policies.kept_in(at.store, at.policy, ZoneInfo)
    codec = backends.open_codec(at.settings)
    kept_since = _kept_since(at)
    verifier = Verifier(at.store, texts.text, codec, policies, keep, show, texts.steps, kept_since=kept_since)
    texts.damaged = verifier.damaged
    return verifier.run(window), found


def _kept_since(at: WithStore) -> datetime:
    """Messages that were applied since then are all there, by the retention of today."""
    return at.clock.now() - at.settings.pipeline.proc_retention


def _print(report: Report, found: list[Difference], from_mailbox: int, *, as_json: bool) -> None:
    counts = {
        "MESSAGES": report.messages,
        "OTHERS": report.others,
        "FLIGHTS": report.flights,
        "ROSTERS": report.rosters,
        "REFERENCES": report.references,
        "LEFT_OUT": report.left_out,
        "FROM_MAILBOX": from_mailbox,
        "POLICIES_ASSUMED": report.policies_assumed,
        "DIFFERENCES": report.differences,
    }
    rows = [_row(each) for each in found]
    if as_json:
        output.print_json({**counts, "WHOLE": report.whole, "COMPARED": report.compared, "FOUND": rows})
        return
    empty = "no difference" if report.compared else "nothing was compared"
    output.print_rows(map(_told, rows), COLUMNS, empty=empty)
    output.note(
        f"{report.messages} messages computed again, {report.others} without effects looked at; compared:"
        f" {report.flights} flights, {report.rosters} rosters, {report.references} reference records"
    )
    if not report.whole:
        output.note("not computed from the first message on: what is older than the range is not known")
    for number, words in (
        (report.left_out, "left out: they began before the range, or went on after it"),
        (from_mailbox, "texts came from the mailbox: the archive has gaps"),
        (report.differences - len(found), "more differences are not shown"),
        (report.policies_assumed, "messages whose settings nobody knows: today's were assumed"),
    ):
        if number:
            output.note(f"{number} {words}")


def _row(found: Difference) -> dict[str, Any]:
    return {
        "KIND": found.kind,
        "TABLE": found.table or None,
        "KEY": found.key,
        "FIELD": found.field,
        "STORED": _shown(found.stored),
        "COMPUTED": _shown(found.computed),
    }


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """For people: where two values look alike, so that they can be told apart."""
    if row["STORED"] is None or row["COMPUTED"] is None:
        return row
    if output.people(row["STORED"]) != output.people(row["COMPUTED"]):
        return row
    return {**row, "STORED": output.exact(row["STORED"]), "COMPUTED": output.exact(row["COMPUTED"])}


def _shown(value: Any) -> Any:
    from msgx_core.model.message import Node
    from msgx_core.ports.inspection import Unreadable
    from msgx_core.rules.render import node_xml

    if isinstance(value, Unreadable):
        return {"UNREADABLE": value.text}
    if isinstance(value, Node):
        return node_xml(value)
    if isinstance(value, tuple):
        return [_shown(each) for each in value]
    return value


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    if not output.on_terminal():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("computing again", console=Console(stderr=True)) as status:
        yield lambda done: status.update(f"computing again: {done} messages")
