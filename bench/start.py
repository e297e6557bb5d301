"""How long a command and an import take to begin, beside the libraries that they stand on."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from bench.frame.context import Context
from bench.frame.machine import command
from bench.frame.product import environment
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Row, Target


def measure(context: Context) -> list[Row]:
    """`msgx --help` and `import msgx_core`; and the first use of the core, which loads what it needs."""
    return [
        _compared(
            context,
            "start-help",
            "msgx --help by the import of typer and rich",
            ([str(Path(sys.executable).with_name("msgx")), "--help"], command("-c", "import typer, rich")),
            Target.at_most(1.5),
        ),
        _compared(
            context,
            "start-import",
            "import msgx_core by import attrs",
            (command("-c", "import msgx_core"), command("-c", "import attrs")),
            Target.at_most(3.0),
        ),
        _compared(
            context,
            "start-use",
            "from msgx_core import Pipeline, by import attrs",
            (command("-c", "from msgx_core import Pipeline"), command("-c", "import attrs")),
            None,
        ),
    ]


def _compared(
    context: Context, name: str, what: str, commands: tuple[list[str], list[str]], target: Target | None
) -> Row:
    ours, reference = commands
    for each in commands:
        _seconds(context, each)
    pairs = in_turn(
        context.sizes.starts, lambda _: _seconds(context, ours), lambda _: _seconds(context, reference)
    )
    details = {
        "ours_ms": [round(pair.ours * 1000) for pair in pairs],
        "reference_ms": [round(pair.reference * 1000) for pair in pairs],
    }
    return Row(name, what, ratios(pairs), target, details=details)


def _seconds(context: Context, arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        arguments, env=environment({}), cwd=context.folder, stdout=subprocess.DEVNULL, check=True, timeout=60
    )
    return time.perf_counter() - began
