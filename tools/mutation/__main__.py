"""`make mutate`: run mutmut on a copy of the tree and write `docs/mutation.md`.

The copy is kept in `build/mutation` with what is known of each mutant, so that a run that was broken off
goes on, and a later one tries again only what may have changed. Exit status 1 when the score is below the
minimum, a survivor has no reason, or mutants were not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from mutation.report import MINIMUM_PERCENT, name_of, page, percent, reasons, stale, unexplained
from mutation.results import UNFINISHED, mutants
from planted_faults.plant import ROOT, copy_tree

PAGE = ROOT / "docs" / "mutation.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, tell, write the page."""
    parser = argparse.ArgumentParser(prog="mutate", description=__doc__.partition("\n")[0])
    parser.add_argument("--report", action="store_true", help="run nothing; write the page from the last run")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--folder", default=str(ROOT / "build" / "mutation"), help="where the copy is")
    chosen = parser.parse_args(arguments)
    folder = ROOT / chosen.folder
    if not chosen.report:
        if chosen.fresh:
            shutil.rmtree(folder, ignore_errors=True)
        for part in ("src", "tests", "tools"):
            shutil.rmtree(folder / part, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        copy_tree(folder)
        run = subprocess.run(
            [sys.executable, "-m", "mutmut", "run", "--max-children", str(chosen.children)],
            cwd=folder,
            env={**os.environ, "MSGX_PROFILE": "mutate"},
            check=False,
        )
        if run.returncode:
            print(f"mutmut ended with {run.returncode}", file=sys.stderr)
            return 1
    return tell(folder)


def tell(folder: os.PathLike[str]) -> int:
    """Write the page; say what is missing."""
    found = list(mutants(ROOT / folder / "mutants" / "src"))
    if not found:
        print("there are no mutants: make mutate", file=sys.stderr)
        return 1
    known = reasons()
    PAGE.write_text(page(found, known), encoding="utf-8")
    unfinished = sum(mutant.fate == UNFINISHED for mutant in found)
    rest = unexplained(found, known)
    print(f"{len(found)} mutants, score {percent(found):.1f} %, {len(rest)} survivors without a reason")
    for mutant in rest:
        print(f"  {name_of(mutant)}: {mutant.fate}\n    " + mutant.change.replace("\n", "\n    "))
    for reason in stale(found, known):
        print(f"  nothing needs the reason for {reason.function}: {reason.change}")
    if unfinished:
        print(f"{unfinished} mutants were not run", file=sys.stderr)
    return 1 if unfinished or rest or percent(found) < MINIMUM_PERCENT else 0


if __name__ == "__main__":
    sys.exit(main())
