"""The report: all rows as JSON and as a table, and why a row was missed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from bench.frame.targets import Row, Verdict

_HEAD = ("bench", "measured", "range", "target", "verdict", "what")


@frozen
class Report:
    """One run. `machine` is what the ratios move with, `tried` by row what was done for a missed target."""

    machine: Mapping[str, Any]
    rows: tuple[Row, ...]
    seconds: float
    began: str
    quick: bool = False
    tried: Mapping[str, Sequence[str]] = {}

    @property
    def missed(self) -> tuple[Row, ...]:
        """Rows whose target was missed, and benchmarks that broke."""
        return tuple(row for row in self.rows if row.verdict in (Verdict.MISSED, Verdict.FAILED))

    @property
    def exit_code(self) -> int:
        """0 when every target is met. A quick run is too short to judge: only a broken benchmark fails."""
        broken = any(row.verdict is Verdict.FAILED for row in self.rows)
        return int(broken or (bool(self.missed) and not self.quick))

    def document(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {
            "began": self.began,
            "seconds": round(self.seconds),
            "quick": self.quick,
            "machine": dict(self.machine),
            "rows": [self._row(row) for row in self.rows],
        }

    def _row(self, row: Row) -> dict[str, Any]:
        measured = row.measured
        found: dict[str, Any] = {
            "bench": row.name,
            "what": row.what,
            "unit": row.unit,
            "statistic": row.statistic,
            "value": _rounded(row.value),
            "low": None if measured is None else _rounded(measured.low),
            "high": None if measured is None else _rounded(measured.high),
            "target": None if row.target is None else str(row.target),
            "verdict": row.verdict.value,
            "conditions": {condition.what: condition.holds for condition in row.conditions},
            "details": dict(row.details),
        }
        if measured is not None and len(measured.values) <= 50:
            found["values"] = [_rounded(value) for value in measured.values]
        if row.error is not None:
            found["error"] = row.error
        if row.name in self.tried:
            found["tried"] = list(self.tried[row.name])
        return found

    def cells(self) -> list[tuple[str, ...]]:
        """The table: a head and one line for each row."""
        return [_HEAD, *(_cells(row) for row in self.rows)]

    def text(self) -> str:
        """The table for a terminal."""
        widths = [max(len(line[n]) for line in self.cells()) for n in range(len(_HEAD) - 1)]
        lines = []
        for line in self.cells():
            padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
            lines.append("  ".join([*padded, line[-1]]).rstrip())
        return "\n".join([*lines, *self._broken()])

    def markdown(self, charts: Sequence[str] = ()) -> str:
        """The page in docs."""
        head, *lines = self.cells()
        table = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        table += ["| " + " | ".join(line) + " |" for line in lines]
        parts = [
            "# The last run of the benchmarks",
            f"{self.began}, {round(self.seconds / 60)} minutes; all figures are in `report.json`."
            " Ratios are medians of rounds in which both sides ran in turn, with their range.",
            "\n".join(table),
            *self._missed_part(),
            "## The machine",
            "\n".join(f"* {name}: {_shown(value)}" for name, value in self.machine.items()),
        ]
        if charts:
            parts += ["## Charts", "\n".join(f"![{Path(name).stem}]({name})" for name in charts)]
        return "\n\n".join(parts) + "\n"

    def _missed_part(self) -> list[str]:
        found = []
        for row in self.missed:
            found.append(f"### {row.name}")
            found += [f"* does not hold: {c.what}" for c in row.conditions if not c.holds]
            found += [f"* {row.error}"] if row.error else []
            found += [f"* tried: {text}" for text in self.tried.get(row.name, ())]
        return ["## What was missed", "\n".join(found)] if found else []

    def _broken(self) -> list[str]:
        """Conditions that do not hold and errors, below the table."""
        lines = []
        for row in self.missed:
            lines += [f"{row.name}: does not hold: {c.what}" for c in row.conditions if not c.holds]
            lines += [f"{row.name}: {row.error}"] if row.error else []
        return lines

    def write(self, folder: Path, charts: Sequence[str] = ()) -> None:
        """`report.json` and `report.md` in the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        document = json.dumps(self.document(), ensure_ascii=False, indent=1)
        (folder / "report.json").write_text(document + "\n", encoding="utf-8")
        (folder / "report.md").write_text(self.markdown(charts), encoding="utf-8")


def tried(path: Path) -> Mapping[str, Sequence[str]]:
    """What has been done for targets that are missed: lists of texts by row, in TOML."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _cells(row: Row) -> tuple[str, ...]:
    measured, unit = row.measured, "" if row.unit == "×" else f" {row.unit}"
    value = "" if row.value is None else f"{_short(row.value)}{unit}"
    spread = "" if measured is None else f"{_short(measured.low)}–{_short(measured.high)}"
    target = "" if row.target is None else f"{row.target}{unit}"
    what = row.what if row.statistic == "median" else f"{row.what} ({row.statistic})"
    return row.name, value, spread, target, row.verdict.value, what


def _short(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(inner)}" for name, inner in value.items())
    return str(value)
