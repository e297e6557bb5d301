"""`python -m bench`: run the benchmarks, print each row with its target, write the report."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench import ROOT
from bench.frame.charts import draw
from bench.frame.context import Context
from bench.frame.figures import fill
from bench.frame.machine import described
from bench.frame.report import Report, tried
from bench.frame.servers import NotMeasurable
from bench.frame.sizes import FULL, QUICK
from bench.frame.targets import Row, failed
from services.base import NotHere

BENCHES = (
    "floor",
    "pipeline",
    "peers",
    "decode",
    "big",
    "growth",
    "latency",
    "embedded",
    "start",
    "scale",
)
PUBLISHED = ROOT / "docs" / "bench"
CAPACITY = ROOT / "docs" / "capacity.md"
_TRIED = Path(__file__).with_name("tried.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0: all targets are met; 1: not so, or a benchmark broke; 2: nothing could be measured."""
    options = _options(arguments)
    began, started = time.monotonic(), datetime.now(UTC)
    with ExitStack() as keep:
        folder = Path(keep.enter_context(tempfile.TemporaryDirectory(prefix="msgx-bench-")))
        context = Context(QUICK if options.quick else FULL, folder, keep, _say)
        machine = described(folder)
        try:
            rows = _run(context, options.only or BENCHES)
        except (NotMeasurable, NotHere) as why:
            print(f"cannot measure here: {why}", file=sys.stderr)
            return 2
    seconds, at = time.monotonic() - began, started.isoformat(timespec="minutes")
    report = Report(machine, tuple(rows), seconds, at, options.quick, tried(_TRIED))
    report.write(options.out, draw(report.document(), options.out))
    if options.out == PUBLISHED:
        fill(CAPACITY, report.document())
    print(report.text())
    print(f"\n{options.out}/report.md, report.json and charts; {seconds:.0f} s")
    return report.exit_code


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute's worth; too short to judge by")
    parser.add_argument("--only", nargs="+", choices=BENCHES, metavar="BENCH", help=", ".join(BENCHES))
    parser.add_argument(
        "--out", type=Path, help="folder of the report; default docs/bench, quick: build/bench"
    )
    options = parser.parse_args(arguments)
    if options.out is None:
        whole = not (options.quick or options.only)
        options.out = PUBLISHED if whole else ROOT / "build" / "bench"
    return options


def _run(context: Context, names: Sequence[str]) -> list[Row]:
    """One benchmark after the other; one that breaks is a row of its own and keeps no other."""
    rows: list[Row] = []
    for name in names:
        began = time.monotonic()
        _say(f"{name} …")
        measure: Callable[[Context], list[Row]] = import_module(f"bench.{name}").measure
        try:
            found = measure(context)
        except (NotMeasurable, NotHere):
            raise
        except Exception as error:
            traceback.print_exc()
            found = [failed(name, error)]
        rows += found
        verdicts = ", ".join(f"{row.name} {row.verdict}" for row in found)
        _say(f"{name}: {verdicts} ({time.monotonic() - began:.0f} s)")
    return rows


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
