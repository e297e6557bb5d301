"""Figures of the last report in the text of a page: each stands between two remarks, the first names it.

`<!--= median floor.floor_per_s -->1,424<!--/-->`: `value ROW`, `median ROW.DETAIL`, `us ROW.DETAIL` (micro-
seconds for each at that rate), `scale CURVE PIPELINES KEY`, `machine KEY`. What is not there becomes `n/a`.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MISSING = "n/a"
_PLACE = re.compile(r"(<!--= ([^>]*?) -->)(.*?)(<!--/-->)", re.DOTALL)


def fill(page: Path, document: Mapping[str, Any]) -> int:
    """Put the figures of a report into a page; how many places there are."""
    text, places = _PLACE.subn(
        lambda found: found[1] + figure(found[2], document) + found[4], page.read_text(encoding="utf-8")
    )
    page.write_text(text, encoding="utf-8")
    return places


def figure(name: str, document: Mapping[str, Any]) -> str:
    """One figure as people read it. Raises ValueError for a name of no known kind."""
    kind, *parts = name.split()
    try:
        match kind:
            case "value":
                return _shown(_row(document, parts[0])["value"])
            case "median":
                return _shown(_detail(document, parts[0]))
            case "us":
                return _shown(1e6 / _detail(document, parts[0]))
            case "scale":
                return _shown(_point(document, *parts))
            case "machine":
                found = document["machine"][parts[0]]
                return _shown(found["median"]) if isinstance(found, dict) else str(found)
    except (KeyError, TypeError, ZeroDivisionError):
        return MISSING
    raise ValueError(f"no figure is called {name!r}")


def _row(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {row["bench"]: row for row in document["rows"]}[name]
    return found


def _detail(document: Mapping[str, Any], name: str) -> float:
    row, _, key = name.partition(".")
    found = _row(document, row)["details"][key]
    return float(statistics.median(found) if isinstance(found, list) else found)


def _point(document: Mapping[str, Any], curve: str, pipelines: str, key: str) -> float:
    points = _row(document, "scale")["details"]["curves"][curve]
    return float({point["pipelines"]: point for point in points}[int(pipelines)][key])


def _shown(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
