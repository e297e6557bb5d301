"""`docs/crash-points.md` and `docs/failure-cases.md` say what is: tests exist, tables are whole."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from crashing.departures import DEPARTURES
from msgx_core.pipeline.steps import BOUNDARIES

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["crash-points.md", "failure-cases.md"]
_LINK = re.compile(r"\[(\w+\.py)\]\((\.\./[\w/.-]+\.py)\)((?:: )?(?:`\w+`(?:, )?)*)")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = (DOCS / page).read_text(encoding="utf-8").partition(heading)[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@cache
def names(path: Path) -> frozenset[str]:
    """Of all functions and classes of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_that_are_named_exist(page: str) -> None:
    links = _LINK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert len(links) > 15
    for name, target, tests in links:
        path = (DOCS / target).resolve()
        assert path.name == name
        missing = set(re.findall(r"`(\w+)`", tests)) - names(path)
        assert not missing, f"{page}: {name} has no {missing}"


def test_each_moment_has_a_test() -> None:
    """IMP §9.2: no row of the matrix without a test behind it."""
    found = rows("crash-points.md", "## The moments of the design")
    assert len(found) > 10
    for moment, on_disk, recovery, test in found:
        assert moment
        assert on_disk
        assert recovery
        assert re.search(r"`test_\w+`", test), moment


def test_the_table_of_boundaries_is_that_of_the_code() -> None:
    found = rows("crash-points.md", "## Every boundary")
    told = [[b.part, f"`{step}`", b.on_disk, b.recovery] for step, b in BOUNDARIES.items()]
    assert found == told


def test_what_may_differ_is_what_the_tests_let_through() -> None:
    found = rows("crash-points.md", "## What may differ after a crash")
    assert {name for steps, _ in found for name in re.findall(r"`([\w-]+)`", steps)} == set(DEPARTURES)


def test_each_case_and_each_fault_has_a_test() -> None:
    """No row without a test behind it."""
    cases = rows("failure-cases.md", "## Cases from public failure reports")
    faults = rows("failure-cases.md", "## Faults of the servers")
    assert (len(cases), len(faults)) == (23, 10)
    for row in (*cases, *faults):
        assert _LINK.search(row[-1]), row[0]
