"""What mutmut left behind: the fate of each mutant, and what it had changed."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

KILLED, SURVIVED, TIMEOUT, UNTESTED, UNFINISHED = "killed", "survived", "timeout", "no tests", "not run"
_FATES = {
    1: KILLED,
    3: KILLED,
    0: SURVIVED,
    33: UNTESTED,
    5: UNTESTED,
    36: TIMEOUT,
    24: TIMEOUT,
    -24: TIMEOUT,
}
_NUMBERED = re.compile(r"__mutmut_\d+$")


@frozen
class Mutant:
    """One small change of a function, and whether a test noticed it. `change`: the lines without and with."""

    module: str
    function: str
    fate: str
    change: str = ""


def mutants(folder: Path) -> Iterator[Mutant]:
    """All mutants below `folder` (mutmut's `mutants/src/…`), by module and number."""
    for meta in sorted(folder.rglob("*.py.meta")):
        fates: Mapping[str, int | None] = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
        source = meta.with_suffix("").read_text(encoding="utf-8")
        functions = _functions(source) if fates else {}
        lines = source.splitlines()
        for key, code in fates.items():
            module, _, name = key.rpartition(".")
            fate = UNFINISHED if code is None else _FATES.get(code, KILLED if code < 0 else f"exit {code}")
            change = _change(name, functions, lines) if fate in (SURVIVED, UNTESTED) else ""
            yield Mutant(module, _plain(name), fate, change)


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}


def _plain(name: str) -> str:
    """`check_count`, `RetryPolicy.problems`: the name without mutmut's decoration."""
    return _NUMBERED.sub("", name).removeprefix("xǁ").removeprefix("x_").replace("ǁ", ".")


def _change(name: str, functions: Mapping[str, ast.FunctionDef], lines: list[str]) -> str:
    before, after = (
        [line.strip() for line in lines[node.lineno : node.end_lineno]]
        for node in (functions[_NUMBERED.sub("__mutmut_orig", name)], functions[name])
    )
    differing = (
        line
        for line in difflib.unified_diff(before, after, lineterm="", n=0)
        if line[0] in "+-" and not line.startswith(("+++", "---"))
    )
    return "\n".join(f"{line[0]} {line[1:]}" for line in differing)
