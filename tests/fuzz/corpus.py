"""Messages that fuzzing starts from: the sample day, a simulated one, and odd shapes."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import first_day
from msgx_app.simulator import SimulationPlan, simulate
from wire import adft, error_answer, fdel, flop, fltr, gate, reference, schedule

_MOST_BYTES = 6_000
_OF_EACH_NAME = 2


@cache
def corpus() -> tuple[bytes, ...]:
    """Of each kind and sub-type a few, none of them large; always the same."""
    found = [raw for _, raw in first_day.messages()]
    seen: dict[str, int] = {}
    for message in simulate(SimulationPlan(seed=11, day=date(2027, 3, 14), flights=40, hours=12)):
        kind = message.name.partition("-")[2]
        if len(message.raw) <= _MOST_BYTES and seen.setdefault(kind, 0) < _OF_EACH_NAME:
            seen[kind] += 1
            found.append(message.raw)
    found += [
        schedule("RESP", [fltr(1), fltr(2, MAID="1", REMC="延误 & <late>")]),
        schedule("DNLD", []),
        adft(fltr(3, ESTT="14MAR271200")),
        flop(1, "GTDT", gate("B1") + gate("B2", 2)),
        fdel(1),
        reference("RSTA", "RESP", ["<RTYP>GATE</RTYP><RSID>B1</RSID><STAT>D</STAT>"]),
        error_answer(CODE="7", TEXT="no such thing"),
    ]
    return tuple(found)


def sample_files() -> tuple[Path, ...]:
    """The sample day as files, for the command line."""
    return tuple(sorted(first_day.FOLDER.glob("*.xml")))
