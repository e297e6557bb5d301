"""The page: every rule, how it stands, and the tests that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traceability.rules import MEANING, Area, Rule, Standing
from traceability.shown import ShownBy

HEAD = """\
# Rules and the tests that show them

Made by `make trace` from the rules in `tools/traceability/rules/` and the tests' docstrings; do not edit it
here. `IMP` and `FST` are the two design documents, `SIS` the interface to the airport's database, `D-` a
decision that has changed or completed a rule. A test shows a rule when its docstring names the rule.
"""


def page(areas: Sequence[Area], shown: Mapping[str, Sequence[ShownBy]]) -> str:
    """The text of `docs/requirements.md`."""
    return "\n".join([HEAD, _summary(areas, shown), *(_area(area, shown) for area in areas)])


def unshown(areas: Sequence[Area], shown: Mapping[str, Sequence[ShownBy]]) -> list[Rule]:
    """Rules that must hold and that no test names."""
    return [r for area in areas for r in area.rules if r.standing is Standing.MUST and not shown.get(r.id)]


def _summary(areas: Sequence[Area], shown: Mapping[str, Sequence[ShownBy]]) -> str:
    rules = [rule for area in areas for rule in area.rules]
    lines = ["| standing | rules | meaning |", "|---|---:|---|"]
    for standing, meaning in MEANING.items():
        lines.append(f"| {standing.value} | {sum(r.standing is standing for r in rules)} | {meaning} |")
    tests = {test for rule in rules for test in shown.get(rule.id, ())}
    lines += ["", f"{len(tests)} tests name a rule.", ""]
    not_built = [r for r in rules if r.standing is Standing.NOT_BUILT]
    if not_built:
        lines += ["Not built yet: " + ", ".join(f"{r.id} ({r.why})" for r in not_built) + ".", ""]
    return "\n".join(lines)


def _area(area: Area, shown: Mapping[str, Sequence[ShownBy]]) -> str:
    lines = [f"## {area.title}", ""]
    for rule in area.rules:
        lines += [f"**{rule.id}** {rule.text} *({rule.source})*", ""]
        if rule.standing is not Standing.MUST:
            why = f": {rule.why}" if rule.why else ""
            lines += [f"— {rule.standing.value}{why}", ""]
        by_file: dict[str, list[str]] = {}
        for test in shown.get(rule.id, ()):
            by_file.setdefault(test.path, []).append(test.name)
        lines += [
            f"- [{path.rpartition('/')[2]}](../{path}): {', '.join(f'`{name}`' for name in names)}"
            for path, names in by_file.items()
        ]
        lines += [""] if by_file else []
    return "\n".join(lines)
