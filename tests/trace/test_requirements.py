"""Every rule that must hold is shown by a test, and the page that says so is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from traceability.page import page, unshown
from traceability.rules import FOLDER, Standing, areas
from traceability.shown import ROOT, ShownBy, docstrings_of, rules_in, shown

RULES = [rule for area in areas() for rule in area.rules]
TESTS = shown()


def test_every_rule_that_must_hold_is_shown() -> None:
    """Write the test, name the rule in its docstring, and run `make trace`."""
    assert {rule.id: rule.text for rule in unshown(areas(), TESTS)} == {}


def test_the_page_is_current() -> None:
    """`make trace` makes it."""
    text = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    assert text == page(areas(), TESTS), "docs/requirements.md is not current: make trace"


def test_no_test_names_a_rule_that_is_not_there() -> None:
    known = {rule.id for rule in RULES}
    named = {rule: tests for rule, tests in TESTS.items() if rule not in known and not rule.startswith("CLM")}
    assert named == {}


def test_no_test_shows_what_is_not_built_or_superseded() -> None:
    """Such a rule has become true, or never will: its standing is wrong, or the docstring is."""
    wrong = {
        rule.id: TESTS[rule.id]
        for rule in RULES
        if rule.standing in (Standing.NOT_BUILT, Standing.SUPERSEDED) and rule.id in TESTS
    }
    assert wrong == {}


def test_the_numbers_are_those_of_the_design() -> None:
    """Without a gap, each once and in order; then the invariants."""
    numbers = [rule.id for rule in RULES if rule.id.startswith("R-")]
    assert numbers == [f"R-{n:03}" for n in range(1, 476)]
    assert [rule.id for rule in RULES[475:]] == ["INV-1", "INV-3", "INV-4", "INV-5", "INV-7", "INV-10"]


def test_a_rule_without_a_test_is_found() -> None:
    (lonely,) = unshown(areas(), {rule.id: TESTS.get(rule.id, []) for rule in RULES if rule.id != "R-022"})
    assert lonely.id == "R-022"


def test_docstrings_are_read_as_people_write_them(tmp_path: Path) -> None:
    """Lists, ranges, anywhere in the text; tests of classes with their class; no other function."""
    assert rules_in("R-009 to R-011, INV-4 (R-085, R-377).") == {
        *("R-009", "R-010", "R-011"),
        *("INV-4", "R-085", "R-377"),
    }
    assert rules_in("SCAR-001, R-12, XR-100") == set()
    source = tmp_path / "test_x.py"
    source.write_text(
        'class TestA:\n    def test_b(self):\n        """R-001:\n        two lines."""\n'
        'def helper():\n    """R-002"""\ndef test_c(): pass\n'
    )
    assert list(docstrings_of(source)) == [("TestA.test_b", "R-001: two lines."), ("test_c", "")]


@pytest.mark.parametrize("entry", ['text = ""\nsource = "x"', 'text = "x"\nsource = "x"\nstanding = "open"'])
def test_a_rule_needs_its_words(tmp_path: Path, entry: str) -> None:
    (tmp_path / "01-x.toml").write_text(f'title = "X"\n[R-001]\n{entry}\n')
    with pytest.raises(ValueError, match="R-001"):
        areas(tmp_path)


def test_the_page_names_standing_and_tests() -> None:
    text = page(areas(FOLDER), {"R-022": [ShownBy("tests/x/test_y.py", "test_z")]})
    assert "- [test_y.py](../tests/x/test_y.py): `test_z`" in text
    assert "— superseded: D-22" in text


def test_the_command_says_what_is_wrong() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "traceability", "--check"],
        cwd=ROOT / "tools",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
