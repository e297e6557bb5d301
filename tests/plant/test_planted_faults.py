"""The ten planted faults: their patches fit the code of today, and what counts as found is an assertion.

Whether each is found is what `make plant` says; it takes a minute or two.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from planted_faults.plant import ROOT, Fault, apply_patch, cases, faults, is_assertion

FAULTS = faults()


def test_there_are_ten() -> None:
    assert len(FAULTS) == 10
    assert {fault.patch.name for fault in FAULTS} == {p.name for p in FAULTS[0].patch.parent.glob("*.patch")}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_patch_fits_the_code_of_today(fault: Fault) -> None:
    """When the code has moved on, make it anew: plant the fault by hand and take `git diff -U2`."""
    assert apply_patch(fault.patch, ROOT, "--check") is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_must_find_it_are_there(fault: Fault) -> None:
    for test in fault.tests:
        path, *names = test.partition("[")[0].split("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in names:
            inherited = re.search(rf"class {names[0]}\((\w+)\)", text) if len(names) > 1 else None
            assert re.search(rf"(def|class) {name}\b", text) or inherited, test


@pytest.mark.parametrize(
    ("xml", "result"),
    [
        ('<failure message="AssertionError: deleted inside only"/>', "assertion"),
        ('<failure message="assert [5, 6] == [2, 3]"/>', "assertion"),
        ('<failure message="Failed: DID NOT RAISE Transient"/>', "error"),
        ('<failure message="KeyError: 7"/>', "error"),
        ('<error message="failed on setup with &quot;AssertionError&quot;"/>', "error"),
        ('<error message="collection failure"/>', "error"),
        ('<skipped message="no PostgreSQL"/>', "skipped"),
        ("", "passed"),
    ],
)
def test_only_an_assertion_counts(tmp_path: Path, xml: str, result: str) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(f'<testsuites><testcase classname="a" name="b">{xml}</testcase></testsuites>')
    assert [case.result for case in cases(report)] == [result]


def test_a_failure_without_a_message_is_no_assertion() -> None:
    assert not is_assertion(ElementTree.Element("failure"))


def test_a_patch_that_does_not_fit_says_so(tmp_path: Path) -> None:
    """It must not pass for a fault that nobody found."""
    patch = tmp_path / "x.patch"
    patch.write_text("--- a/x.txt\n+++ b/x.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n")
    (tmp_path / "x.txt").write_text("something else\n")
    assert "patch does not apply" in (apply_patch(patch, tmp_path) or "")
