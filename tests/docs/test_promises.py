"""`docs/explanation/promises.md` names tests that there are, and what is expressly not promised."""

from __future__ import annotations

import ast
import re

from pages import ROOT
from traceability.rules import Standing, areas

PAGE = ROOT / "docs" / "explanation" / "promises.md"
_NAMED = re.compile(r"\[(\w+\.py)\]\(([\w./]+)\): ((?:`test_\w+`(?:, )?)+)")


def test_the_tests_of_the_promises_exist() -> None:
    named = _NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 15
    for _, target, names in named:
        path = (PAGE.parent / target).resolve()
        defined = {
            n.name
            for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.FunctionDef)
        }
        assert set(re.findall(r"test_\w+", names)) <= defined, target


def test_every_promise_has_its_test() -> None:
    promised = PAGE.read_text(encoding="utf-8").partition("## Promised")[2].partition("## Not promised")[0]
    rows = [line for line in promised.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    assert [row for row in rows if not _NAMED.search(row)] == []


def test_what_is_not_promised_has_its_page_or_test() -> None:
    """R-475: each number that a rule calls by is on the page, with what there is instead."""
    text = PAGE.read_text(encoding="utf-8")
    told = {claim for area in areas() for rule in area.rules for claim in re.findall(r"CLM-\d", rule.text)}
    assert {"CLM-3", "CLM-4", "CLM-5"} <= told
    rows = [line for line in text.partition("## Not promised")[2].splitlines() if line.startswith("| ")][1:]
    assert told <= set(re.findall(r"CLM-\d", "\n".join(rows)))
    assert [row for row in rows if not re.search(r"\]\([\w./-]+\)", row)] == []
    assert len(rows) >= sum(rule.standing is Standing.NON_CLAIM for area in areas() for rule in area.rules)
