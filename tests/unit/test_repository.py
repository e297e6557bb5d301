"""House rules that no linter checks: file length, what files may name, pure imports, `make help`."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 300
MAX_FUNCTION_LINES = 40

# Written in pieces, so that this file passes its own test.
REGISTRY_HOSTS = re.compile(
    "|".join(
        [
            r"py" + r"pi\.(org|io)",
            r"python" + r"hosted\.org",
            r"registry\." + r"(npmjs|yarnpkg)",
            r"(deb|security)\." + r"debian\.org",
            r"crates" + r"\.io",
            r"repo1?\.(maven|conda)" + r"\.",
        ]
    ),
    re.IGNORECASE,
)
MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:" + r"work/|root/|home/|Users/|opt/wheels|tmp/bash_)")
OUTSIDE_FOLDERS = re.compile(r"\.\." + r"/shared\b|\bshared" + r"/(?:spec|design|samples|seeds|hooks)\b")

# Every module of the core but the contract suites, which run under pytest.
IMPORT_THE_CORE = """
import importlib, pkgutil, sys
before = set(sys.modules)
import msgx_core
def walk(package):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if found.name != "msgx_core.testing":
            module = importlib.import_module(found.name)
            if found.ispkg:
                walk(module)
walk(msgx_core)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def committed_files() -> list[Path]:
    """What git has or would add; in an unpacked source archive, every file outside hidden folders."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        paths = [ROOT / name for name in listed.split("\0") if name]
    else:
        paths = [p for p in ROOT.rglob("*") if not any(part.startswith(".") for part in p.parts)]
    return sorted(path for path in paths if path.is_file())


def python_sources() -> list[Path]:
    return sorted(path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py"))


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring and what is nested in it."""
    first = function.body[0]
    described = ast.get_docstring(function) is not None
    start = (first.end_lineno or 0) + 1 if described else function.lineno
    nested = [n for n in ast.walk(function) if n is not function and isinstance(n, ast.FunctionDef)]
    inside = sum((n.end_lineno or 0) - n.lineno + 1 for n in nested)
    return (function.end_lineno or 0) - start + 1 - inside


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    """`file:line: text` of each match in a committed file that is UTF-8 text."""
    found = []
    for path in committed_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if not pattern.search(text):
            continue
        name = path.relative_to(ROOT)
        found += [
            f"{name}:{number}: {line.strip()[:120]}"
            for number, line in enumerate(text.splitlines(), start=1)
            if pattern.search(line)
        ]
    return found


def test_a_source_file_is_one_room() -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in python_sources()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert not too_long, f"past {MAX_LINES} lines a file is two files"


def test_a_function_is_one_thought() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name} {code_lines(node)}"
        for path in (*(ROOT / "src").rglob("*.py"), *(ROOT / "bench").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and code_lines(node) > MAX_FUNCTION_LINES
    ]
    assert not too_long, f"past {MAX_FUNCTION_LINES} lines a function is two functions"


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(REGISTRY_HOSTS, id="package-registry-host"),
        pytest.param(MACHINE_PATHS, id="path-of-one-machine"),
        pytest.param(OUTSIDE_FOLDERS, id="folder-outside-the-repository"),
    ],
)
def test_no_committed_file_names(pattern: re.Pattern[str]) -> None:
    assert committed_files()
    assert lines_matching(pattern) == []


def test_importing_the_core_brings_only_attrs_and_the_standard_library() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_THE_CORE],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    imported = set(run.stdout.split())
    assert "msgx_core" in imported
    assert imported - sys.stdlib_module_names <= {"attr", "attrs", "msgx_core"}


def makefile_targets() -> dict[str, str | None]:
    """The phony targets, each with its help text."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = re.search(r"^\.PHONY:(.*)$", text, re.MULTILINE)
    assert declared, "the Makefile declares its targets as phony"
    help_of = dict(re.findall(r"^([a-z][\w-]*):.*?## (\S.*)$", text, re.MULTILINE))
    rules = re.findall(r"^([a-z][\w-]*):(?!=)", text, re.MULTILINE)
    return {target: help_of.get(target) for target in {*declared[1].split(), *rules}}


def test_each_make_target_has_help_text() -> None:
    targets = makefile_targets()
    assert {"demo", "test", "lint", "format", "bench", "deep", "clean", "help"} <= set(targets)
    assert [target for target, text in targets.items() if not text] == []


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_alone_lists_every_target() -> None:
    # A make of our own: the flags of a surrounding `make test` are not for it.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    run = subprocess.run(["make"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=True)
    for target, text in makefile_targets().items():
        assert re.search(rf"make {target}\s+{re.escape(text or '')}", run.stdout)
