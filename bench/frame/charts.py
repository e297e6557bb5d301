"""Charts of a report as PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_COLOURS = {"met": "#2e7d32", "missed": "#c62828", "failed": "#616161", "reported": "#1565c0"}
_INK = "#37474f"


def draw(document: Mapping[str, Any], folder: Path) -> list[str]:
    """Draw what the report has; the names of the files, in the order in which to show them."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    charts = {"targets.png": _targets, "rounds.png": _rounds, "scale.png": _scale, "latency.png": _latency}
    return [name for name, chart in charts.items() if chart(document, folder / name)]


def _targets(document: Mapping[str, Any], path: Path) -> bool:
    """Each row by its target: 1 is the target, to the right is better."""
    from matplotlib import pyplot as plt

    rows = [row for row in document["rows"] if row["target"] and row["value"]]
    if not rows:
        return False
    figure, axes = plt.subplots(figsize=(9, 0.45 * len(rows) + 1.2), layout="constrained")
    for place, row in enumerate(reversed(rows)):
        mark, text = row["target"].split()
        limit = float(text)

        def better(value: float, limit: float = limit, mark: str = mark) -> float:
            return value / limit if mark == "≥" else limit / value

        ends = sorted(better(row[end] or row["value"]) for end in ("low", "high"))
        if row["statistic"] == "median":
            axes.plot(ends, [place, place], color=_INK, linewidth=1.5, zorder=1)
        axes.scatter(better(row["value"]), place, color=_COLOURS[row["verdict"]], s=60, zorder=2)
    axes.set_yticks(range(len(rows)), [f"{row['bench']}  {row['target']}" for row in reversed(rows)])
    axes.axvline(1, color=_INK, linestyle="--", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("by the target; right of the line it is met")
    axes.grid(axis="x", which="both", alpha=0.2)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return True


def _rounds(document: Mapping[str, Any], path: Path) -> bool:
    """The ratio of every round, so that the noise can be seen."""
    from matplotlib import pyplot as plt

    rows = [row for row in document["rows"] if row["unit"] == "×" and len(row.get("values", ())) > 1]
    if not rows:
        return False
    columns = 4
    lines = -(-len(rows) // columns)
    figure, grid = plt.subplots(
        lines, columns, figsize=(11, 2.2 * lines), squeeze=False, layout="constrained"
    )
    for axes in grid.flat:
        axes.set_visible(False)
    for axes, row in zip(grid.flat, rows, strict=False):
        axes.set_visible(True)
        axes.plot(
            range(1, len(row["values"]) + 1),
            row["values"],
            "o-",
            color=_COLOURS[row["verdict"]],
            markersize=4,
        )
        if row["target"]:
            axes.axhline(float(row["target"].split()[1]), color=_INK, linestyle="--", linewidth=1)
        axes.set_title(row["bench"], fontsize=9)
        axes.set_ylim(bottom=0)
        axes.tick_params(labelsize=7)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return True


def _scale(document: Mapping[str, Any], path: Path) -> bool:
    """Messages a second of all pipelines on one server, and how long a message takes."""
    from matplotlib import pyplot as plt

    found = [row["details"] for row in document["rows"] if row["bench"] == "scale" and row["details"]]
    if not found:
        return False
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    for name, points in found[0]["curves"].items():
        pipelines = [point["pipelines"] for point in points]
        left.plot(pipelines, [point["per_s"] for point in points], "o-", label=name)
        right.plot(pipelines, [point["message_ms"] for point in points], "o-", label=name)
    for axes, title in ((left, "messages a second, all together"), (right, "milliseconds a message")):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("pipelines on one PostgreSQL")
        axes.set_title(title, fontsize=10)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.2)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return True


def _latency(document: Mapping[str, Any], path: Path) -> bool:
    """How many messages were there after how long."""
    from matplotlib import pyplot as plt

    rows = [
        row
        for row in document["rows"]
        if row["bench"].startswith("latency") and "sorted_ms" in row["details"]
    ]
    if not rows:
        return False
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for row in rows:
        times = row["details"]["sorted_ms"]
        axes.plot(times, [(n + 1) / len(times) for n in range(len(times))], label=row["bench"])
        axes.axvline(float(row["target"].split()[1]), color=_INK, linestyle="--", linewidth=1)
    axes.set_xlabel("milliseconds after the commit in the mailbox")
    axes.set_ylabel("share of messages")
    axes.grid(alpha=0.2)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return True
