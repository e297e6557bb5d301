"""What can be chosen on the command line of the demonstration."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Final

from attrs import frozen

from msgx_app.settings.errors import Invalid
from msgx_app.settings.network import Bind, bind
from msgx_app.simulator.plan import MAX_FLIGHTS, SimulationPlan

AIRPORT: Final = "KMG"
_FLIGHTS_ONCE: Final = 120
_FLIGHTS_LIVE: Final = 240
_DAY_SPEED: Final = 144.0


@frozen
class Options:
    """The choices. `speed` is simulated seconds per second."""

    once: bool
    folder: Path
    flights: int
    seed: int
    speed: float
    day: date
    http: Bind | None

    @property
    def plan(self) -> SimulationPlan:
        """The day to be simulated."""
        return SimulationPlan(seed=self.seed, day=self.day, airport=AIRPORT, flights=self.flights)


def parse(args: Sequence[str] | None = None) -> Options:
    """The choices of a command line; leaves with a usage message for one that is not legal."""
    parser = argparse.ArgumentParser(
        prog="python -m msgx_app.demo",
        description="A compressed airport day through msgx: mailbox, store, cache and bus on this machine.",
        epilog="example: make demo ARGS='--once --flights 60'",
    )
    parser.add_argument("--once", action="store_true", help="as fast as possible, print a summary and end")
    parser.add_argument(
        "--dir", type=Path, default=Path("msgx-demo"), help="each run makes a folder in it (%(default)s)"
    )
    parser.add_argument(
        "--flights",
        type=_number(int, 1, MAX_FLIGHTS),
        help=f"flights of the schedule ({_FLIGHTS_LIVE}; {_FLIGHTS_ONCE} with --once)",
    )
    parser.add_argument("--seed", type=int, default=1, help="same seed, same day (%(default)s)")
    parser.add_argument(
        "--speed",
        type=_number(float, 1, 100_000),
        default=_DAY_SPEED,
        help="simulated seconds per second (%(default)g: the day takes about ten minutes)",
    )
    parser.add_argument(
        "--day",
        type=date.fromisoformat,
        default=date.today(),  # noqa: DTZ011 - the day on the user's wall
        help="the simulated day, YYYY-MM-DD (today)",
    )
    parser.add_argument(
        "--http",
        type=_address,
        default="127.0.0.1:8080",
        help="address of API and metrics, or off; another port when it is taken (%(default)s)",
    )
    found = parser.parse_args(args)
    flights = found.flights or (_FLIGHTS_ONCE if found.once else _FLIGHTS_LIVE)
    return Options(found.once, found.dir, flights, found.seed, found.speed, found.day, found.http)


def _address(text: str) -> Bind | None:
    try:
        return bind(text)
    except Invalid as error:
        raise argparse.ArgumentTypeError(f"{text} {error}") from None


def _number(kind: type[int] | type[float], least: float, most: float) -> Callable[[str], int | float]:
    def number(text: str) -> int | float:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not between {least:g} and {most:g}")
        return value

    return number
