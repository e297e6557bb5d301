"""`docs/mutation.md`: the score by module, and each survivor with the reason why it may live."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

from mutation.results import KILLED, SURVIVED, TIMEOUT, UNTESTED, Mutant

REASONS = Path(__file__).resolve().with_name("reasons.toml")
MINIMUM_PERCENT = 85.0

HEAD = """\
# Mutation testing

`make mutate` changes the functions of `msgx_core.rules` and `msgx_core.states` in small ways, one at a time,
and runs the tests of `tests/unit/core` that use the changed function. A change that no test notices is a
survivor: a test is missing, or the change makes no difference that matters. This page is made by that run;
the reasons are kept in `tools/mutation/reasons.toml`.

The tool is mutmut. It changes the bodies of functions and methods, but for decorated ones (properties), and
nothing at module level: the tables of `states/` are data, and their tests go through every pair. A change
that never ends counts as noticed.
"""


@frozen
class Reason:
    """Why changes of a function (`module.function`) whose lines contain `change` may live."""

    function: str
    change: str
    reason: str

    def explains(self, mutant: Mutant) -> bool:
        """Whether it is about this one."""
        return self.function == name_of(mutant) and self.change in mutant.change


def name_of(mutant: Mutant) -> str:
    """`coverage.check_count`: short, and unique here."""
    return f"{mutant.module.rpartition('.')[2]}.{mutant.function}"


def reasons(path: Path = REASONS) -> list[Reason]:
    """All reasons, in the order of the file."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])
    return [Reason(entry["function"], entry["change"], entry["reason"]) for entry in listed]


def percent(found: Iterable[Mutant]) -> float:
    """How many of a hundred mutants were noticed."""
    fates = Counter(mutant.fate for mutant in found)
    return 100.0 * (fates[KILLED] + fates[TIMEOUT]) / max(1, fates.total())


def unexplained(found: Iterable[Mutant], known: Sequence[Reason]) -> list[Mutant]:
    """Mutants that live without a reason."""
    return [m for m in found if _lives(m) and not any(reason.explains(m) for reason in known)]


def stale(found: Sequence[Mutant], known: Sequence[Reason]) -> list[Reason]:
    """Reasons that no survivor needs."""
    return [reason for reason in known if not any(_lives(m) and reason.explains(m) for m in found)]


def _lives(mutant: Mutant) -> bool:
    return mutant.fate not in (KILLED, TIMEOUT)


def page(found: Sequence[Mutant], known: Sequence[Reason]) -> str:
    """The text of `docs/mutation.md`."""
    lines = [
        HEAD,
        "| module | mutants | noticed | survived | not tested | score |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for module in sorted({mutant.module for mutant in found}):
        lines.append(_row(f"`{module}`", [m for m in found if m.module == module]))
    lines += [_row("**all**", found), "", "## Survivors", ""]
    for reason in known:
        living = [m for m in found if _lives(m) and reason.explains(m)]
        if living:
            lines += [f"### `{reason.function}` ({len(living)})", "", reason.reason, ""]
            lines += _changes(living)
    rest = unexplained(found, known)
    if rest:
        lines += ["## Survivors without a reason", ""]
        for mutant in rest:
            lines += [f"### `{name_of(mutant)}`", "", *_changes([mutant])]
    return "\n".join(lines).rstrip() + "\n"


def _row(name: str, found: Sequence[Mutant]) -> str:
    fates = Counter(mutant.fate for mutant in found)
    noticed = fates[KILLED] + fates[TIMEOUT]
    numbers = (len(found), noticed, fates[SURVIVED], fates[UNTESTED], f"{percent(found):.1f} %")
    return f"| {name} | {' | '.join(str(number) for number in numbers)} |"


def _changes(living: Iterable[Mutant]) -> list[str]:
    return ["```diff", *dict.fromkeys(line for m in living for line in (*m.change.splitlines(),)), "```", ""]
