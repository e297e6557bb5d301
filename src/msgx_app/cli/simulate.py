"""`msgx simulate`: a simulated airport day into the mailbox or a folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import define, field

from msgx_app.cli import output
from msgx_app.cli.options import Common, command

if TYPE_CHECKING:
    from msgx_app.simulator import SimulatedMessage, SimulationPlan

MAILBOX = "mailbox"
DEFAULT_DAY = "2027-03-14"
_BATCH = 200


@command(
    "msgx simulate --flights 40 --seed 7",
    "msgx simulate --into day1 --day 2027-03-14",
    "msgx simulate --speed 60",
)
def simulate(
    common: Common,
    *,
    flights: Annotated[int, typer.Option(metavar="N", help="Flights of the schedule.")] = 200,
    seed: Annotated[int, typer.Option(metavar="S", help="Same seed, same bytes.")] = 1,
    day: Annotated[str, typer.Option(metavar="DAY", help="First day: YYYY-MM-DD or today.")] = DEFAULT_DAY,
    hours: Annotated[float, typer.Option(metavar="H", help="How long the stretch is, up to 48.")] = 24.0,
    speed: Annotated[
        float, typer.Option(metavar="X", help="60: an hour in a minute; 0: as fast as possible.")
    ] = 0.0,
    into: Annotated[
        str, typer.Option(metavar="mailbox|DIR", help="Where to; a folder must be new.")
    ] = MAILBOX,
    faults: Annotated[float, typer.Option("--fault-rate", metavar="F", help="Share of bad messages.")] = 0.01,
    first_seqn: Annotated[
        int, typer.Option(metavar="N", help="SEQN to begin with, for a second stretch.")
    ] = 1,
) -> None:
    """A believable airport day: reference lists, a schedule, then its traffic, with a few bad messages.

    It can be interrupted: what was sent stays sent.
    """
    if speed < 0:
        raise typer.BadParameter("not below 0", param_hint="--speed")
    knobs = {"seed": seed, "flights": flights, "hours": hours, "fault_rate": faults, "first_seqn": first_seqn}
    plan = _plan(common, day, knobs, needed=into == MAILBOX)
    tally = _Tally()
    try:
        with _progress(tally):
            if into == MAILBOX:
                _to_mailbox(common, plan, speed, tally)
            else:
                _to_folder(Path(into), plan, speed, tally)
    except KeyboardInterrupt:
        output.note(f"interrupted: {tally.messages} messages are in {into}")
        raise
    _print(tally, into, as_json=common.as_json)


def _print(tally: _Tally, into: str, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"MESSAGES": tally.messages, "FAULTS": tally.faults, "INTO": into, **tally.ids})
    else:
        ids = f", MSG_ID {tally.ids['FIRST_MSG_ID']} to {tally.ids['LAST_MSG_ID']}" if tally.ids else ""
        print(f"{tally.messages} messages ({tally.faults} faulty) are in {into}{ids}")


@define
class _Tally:
    """What has gone out so far."""

    # Only what is really there counts: an interruption must tell the truth.
    messages: int = 0
    faults: int = 0
    ids: dict[str, int] = field(factory=dict)

    def add(self, message: SimulatedMessage) -> None:
        """One more."""
        self.messages += 1
        self.faults += bool(message.fault)

    def sent(self, msg_ids: Sequence[int]) -> None:
        """These have got ids."""
        self.ids = {"FIRST_MSG_ID": msg_ids[0], **self.ids, "LAST_MSG_ID": msg_ids[-1]}


def _plan(common: Common, day: str, knobs: dict[str, Any], *, needed: bool) -> SimulationPlan:
    """The plan for the airport of the configuration; a folder needs none."""
    from msgx_app.cli.times import parse_day
    from msgx_app.simulator import SimulationPlan

    if needed or common.config_path() is not None:
        from msgx_app.cli.parts import base

        at = base(common)
        first: date = parse_day(day, at.policy, at.clock.now(), "--day")
        knobs |= {"airport": at.settings.airport.code, "timezone": str(at.settings.airport.timezone)}
    else:
        from msgx_app import backends
        from msgx_core.rules.policy import Policy

        first = parse_day(day, Policy(), backends.system_clock().now(), "--day")
    try:
        return SimulationPlan(day=first, **knobs)
    except ValueError as error:
        # The text says which: attrs puts it in front of the attribute and its bounds.
        raise typer.BadParameter(str(error.args[0] if error.args else error)) from error


def _paced(plan: SimulationPlan, speed: float) -> Iterator[SimulatedMessage]:
    from msgx_app.simulator import pace
    from msgx_app.simulator import simulate as simulated

    return pace(simulated(plan), speed, threading.Event().wait if speed else lambda wait_s: False)


def _to_folder(directory: Path, plan: SimulationPlan, speed: float, tally: _Tally) -> None:
    from msgx_app.simulator import write_folder
    from msgx_core.errors import ConfigError

    def written() -> Iterator[SimulatedMessage]:
        for message in _paced(plan, speed):
            yield message
            tally.add(message)

    try:
        write_folder(written(), directory)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint="--into") from error


def _to_mailbox(common: Common, plan: SimulationPlan, speed: float, tally: _Tally) -> None:
    from msgx_app.cli.parts import with_inbox

    with with_inbox(common) as at:
        messages = _paced(plan, speed)
        # With a pace each goes out when its time has come.
        while batch := list(islice(messages, 1 if speed else _BATCH)):
            tally.sent(at.inbox.send_many([message.raw for message in batch]))
            for message in batch:
                tally.add(message)


@contextmanager
def _progress(tally: _Tally) -> Iterator[None]:
    """How many so far, on a terminal."""
    if not output.on_terminal():
        yield
        return
    from rich.console import Console
    from rich.live import Live

    class Line:
        """Drawn anew by rich, a few times a second."""

        def __rich__(self) -> str:
            return f"{tally.messages} messages"

    with Live(Line(), console=Console(stderr=True), refresh_per_second=5, transient=True):
        yield
