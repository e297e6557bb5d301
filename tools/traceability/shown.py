"""Which rules the tests name in their docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests", "src/msgx_core/testing")
_RANGE = re.compile(r"R-(\d{3}) to R-(\d{3})")
_RULE = re.compile(r"\b(?:R-\d{3}|INV-\d+|CLM-\d+)\b")


@frozen(order=True)
class ShownBy:
    """A test; `path` from the root of the project."""

    path: str
    name: str


def rules_in(docstring: str) -> set[str]:
    """Rules that a docstring names; `R-448 to R-452` names five.

    >>> sorted(rules_in("R-001, R-448 to R-450 (INV-7)"))
    ['INV-7', 'R-001', 'R-448', 'R-449', 'R-450']
    """
    found = set(_RULE.findall(docstring))
    for first, last in _RANGE.findall(docstring):
        found |= {f"R-{n:03}" for n in range(int(first), int(last) + 1)}
    return found


def docstrings_of(path: Path) -> Iterator[tuple[str, str]]:
    """Name and docstring of each test of a file, those of contract suites with their class."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for each in inside:
            if isinstance(each, ast.FunctionDef) and each.name.startswith("test"):
                yield prefix + each.name, " ".join((ast.get_docstring(each) or "").split())


def shown(root: Path = ROOT) -> dict[str, list[ShownBy]]:
    """Tests by rule, in the order of their files."""
    found: dict[str, list[ShownBy]] = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            if path.is_relative_to(root / "tests" / "trace"):  # it speaks about rules
                continue
            for name, docstring in docstrings_of(path):
                for rule in rules_in(docstring):
                    found.setdefault(rule, []).append(ShownBy(str(path.relative_to(root)), name))
    return {rule: sorted(tests) for rule, tests in found.items()}
