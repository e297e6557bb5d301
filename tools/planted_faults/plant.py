"""Plants one fault at a time in a clean copy and tells which test finds it: `make plant`.

A fault counts as found only when a test that must find it fails with an `AssertionError` of its own. A patch
that does not apply, a test that cannot be imported or that is skipped, and an exception of any other kind do
not count. Exit status: 0 when every fault was found, else 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from attrs import frozen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIDE = ("tests/unit/core", "tests/contract", "tests/integration", "tests/crash", "tests/proof")
TIMEOUT_S = 600
SHOWN = 4


@frozen
class Fault:
    """One deliberate mistake: what it is, and the tests that must find it."""

    name: str
    about: str
    tests: tuple[str, ...]

    @property
    def patch(self) -> Path:
        """The change that plants it."""
        return HERE / f"{self.name}.patch"


@frozen
class Case:
    """What became of one test: `assertion` when it failed by an assertion, `error` when otherwise."""

    test: str
    result: str
    message: str = ""


def faults() -> list[Fault]:
    """All of `faults.toml`, in its order."""
    listed = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))
    return [Fault(name, entry["about"], tuple(entry["tests"])) for name, entry in listed.items()]


def copy_tree(target: Path) -> None:
    """The files that git has or would add, as they are now; without git, all but hidden folders."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        names = [name for name in listed.split("\0") if name]
    else:
        found = (p.relative_to(ROOT) for p in ROOT.rglob("*"))
        names = [str(p) for p in found if not any(part.startswith(".") for part in p.parts)]
    for name in names:
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def apply_patch(patch: Path, tree: Path, *options: str) -> str | None:
    """Apply it; what `git apply` says when it does not fit, else None."""
    run = subprocess.run(
        ["git", "apply", "-C1", *options, str(patch)],
        cwd=tree,
        # In a copy below somebody's checkout, git would look at that and do nothing.
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    return None if run.returncode == 0 else run.stderr.strip()


def run_tests(tree: Path, tests: Sequence[str], *, stop_at_first: bool) -> list[Case]:
    """Run tests in the copy, on the copy's sources."""
    report = tree / "junit.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    paths = os.pathsep.join((str(tree / "src"), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep), "PYTHONDONTWRITEBYTECODE": "1"}
    log = (tree / "pytest.log").open("w")
    with log:
        subprocess.run(
            [*command, *(["-x"] if stop_at_first else []), *tests],
            cwd=tree,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
    return list(cases(report)) if report.exists() else []


def cases(report: Path) -> Iterable[Case]:
    """The tests of a JUnit report."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        failure, error, skipped = (case.find(tag) for tag in ("failure", "error", "skipped"))
        if error is not None:
            yield Case(test, "error", first_line(error))
        elif failure is not None:
            yield Case(test, "assertion" if is_assertion(failure) else "error", first_line(failure))
        else:
            yield Case(test, "passed" if skipped is None else "skipped")


def is_assertion(failure: ElementTree.Element) -> bool:
    """Whether a test failed because what it asserts is not so."""
    return (failure.get("message") or "").startswith(("AssertionError", "assert "))


def first_line(failure: ElementTree.Element) -> str:
    """What pytest says in one line."""
    return (failure.get("message") or "").strip().partition("\n")[0][:160]


def examine(fault: Fault, tree: Path, *, wide: bool) -> bool:
    """Plant it, run, take it out again; whether an assertion found it."""
    started = time.monotonic()
    refused = apply_patch(fault.patch, tree)
    if refused is not None:
        print(f"NOT PLANTED  {fault.name}: {refused}")
        return False
    ran = run_tests(tree, WIDE if wide else fault.tests, stop_at_first=False)
    restored = apply_patch(fault.patch, tree, "--reverse")
    assert restored is None, restored
    found = [case for case in ran if case.result == "assertion"]
    print(f"{'found' if found else 'NOT FOUND':12} {fault.name} ({time.monotonic() - started:.0f} s)")
    print(f"             {fault.about}")
    for case in found[:SHOWN]:
        print(f"    caught by {case.test}\n              {case.message}")
    if len(found) > SHOWN:
        print(f"    and by {len(found) - SHOWN} more")
    for case in ran:
        if case.result in ("error", "skipped"):
            print(f"    {case.result}: {case.test} {case.message}")
    if not ran:
        print(f"    no test ran; pytest said:\n{(tree / 'pytest.log').read_text()[-2000:]}")
    return bool(found)


def is_sound(tree: Path, chosen: Sequence[Fault]) -> bool:
    """Whether the tests pass without any fault: else their failure would show nothing."""
    ran = run_tests(tree, sorted({test for fault in chosen for test in fault.tests}), stop_at_first=True)
    bad = [case for case in ran if case.result != "passed"]
    for case in bad:
        print(f"without any fault {case.test}: {case.result} {case.message}")
    if not ran:
        print(f"no test ran; pytest said:\n{(tree / 'pytest.log').read_text()[-2000:]}")
    return bool(ran) and not bad


def main(arguments: Sequence[str] | None = None) -> int:
    """Plant all faults, or those that are named."""
    parser = argparse.ArgumentParser(prog="plant", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="FAULT", help="only these")
    parser.add_argument("--wide", action="store_true", help=f"run {' '.join(WIDE)} for each fault")
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    chosen = parser.parse_args(arguments)
    known = {fault.name: fault for fault in faults()}
    unknown = [name for name in chosen.names if name not in known]
    if unknown:
        parser.error(f"no such fault: {' '.join(unknown)}; there are {' '.join(known)}")
    picked = [known[name] for name in chosen.names or known]
    if chosen.list:
        for fault in picked:
            print(f"{fault.name:28} {fault.about}")
        return 0
    with tempfile.TemporaryDirectory(prefix="msgx-plant-") as folder:
        tree = Path(folder) / "copy"
        tree.mkdir()
        copy_tree(tree)
        if not is_sound(tree, picked):
            return 1
        missed = [fault.name for fault in picked if not examine(fault, tree, wide=chosen.wide)]
    print(f"{len(picked) - len(missed)} of {len(picked)} faults found")
    if missed:
        print(f"not found: {' '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
