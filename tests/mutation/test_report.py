"""The report on mutants: what counts as noticed, and that each survivor needs its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mutation.report import Reason, page, percent, reasons, stale, unexplained
from mutation.results import KILLED, SURVIVED, TIMEOUT, UNFINISHED, UNTESTED, Mutant, mutants

SOURCE = """\
def x_limit__mutmut_orig(n):
    if n > 9:
        return None
    return n


def x_limit__mutmut_1(n):
    if n >= 9:
        return None
    return n


class Policy:
    def xǁPolicyǁnext__mutmut_orig(self):
        return 1

    def xǁPolicyǁnext__mutmut_1(self):
        return 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.py").write_text(SOURCE)
    fates = {"core.rules.x_limit__mutmut_1": 0, "core.rules.xǁPolicyǁnext__mutmut_1": 1}
    (tmp_path / "rules.py.meta").write_text(json.dumps({"exit_code_by_key": fates}))
    return tmp_path


def test_each_mutant_has_its_fate_and_a_survivor_its_change(folder: Path) -> None:
    assert list(mutants(folder)) == [
        Mutant("core.rules", "limit", SURVIVED, "- if n > 9:\n+ if n >= 9:"),
        Mutant("core.rules", "Policy.next", KILLED),
    ]


@pytest.mark.parametrize(
    ("code", "fate"),
    [(1, KILLED), (0, SURVIVED), (-24, TIMEOUT), (33, UNTESTED), (None, UNFINISHED), (-11, KILLED)],
)
def test_what_an_exit_code_means(folder: Path, code: int | None, fate: str) -> None:
    fates = {"core.rules.x_limit__mutmut_1": code}
    (folder / "rules.py.meta").write_text(json.dumps({"exit_code_by_key": fates}))
    assert [mutant.fate for mutant in mutants(folder)] == [fate]


def test_a_survivor_needs_a_reason_of_its_function_and_change(folder: Path) -> None:
    found = list(mutants(folder))
    fits = Reason("rules.limit", "n >= 9", "nine is not used")
    assert unexplained(found, [fits]) == []
    for other in (Reason("rules.other", "n >= 9", "x"), Reason("rules.limit", "n < 9", "x")):
        assert [m.function for m in unexplained(found, [other])] == ["limit"]
        assert stale(found, [other]) == [other]


def test_the_page_has_score_reasons_and_what_is_left(folder: Path) -> None:
    found = list(mutants(folder))
    assert percent(found) == 50.0
    explained = page(found, [Reason("rules.limit", "n >= 9", "nine is not used")])
    assert "| `core.rules` | 2 | 1 | 1 | 0 | 50.0 % |" in explained
    assert "nine is not used\n\n```diff\n- if n > 9:\n+ if n >= 9:\n```" in explained
    assert "without a reason" not in explained
    assert "## Survivors without a reason" in page(found, [])


def test_what_was_not_run_counts_against_the_score() -> None:
    assert percent([Mutant("m", "f", UNFINISHED), Mutant("m", "f", TIMEOUT)]) == 50.0


def test_reasons_have_words() -> None:
    assert all(r.reason and r.change and r.function.count(".") for r in reasons())
