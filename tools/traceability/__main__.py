"""`make trace`: write `docs/requirements.md`; `--check`: is it current, and is every rule shown?"""

from __future__ import annotations

import sys

from traceability.page import page, unshown
from traceability.rules import areas
from traceability.shown import ROOT, shown

PAGE = ROOT / "docs" / "requirements.md"


def main(arguments: list[str]) -> int:
    """Exit status 1 with `--check` when something is wrong, and for a rule that no test shows."""
    rules, tests = areas(), shown()
    text = page(rules, tests)
    missing = unshown(rules, tests)
    for rule in missing:
        print(f"no test names {rule.id}: {rule.text}", file=sys.stderr)
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.relative_to(ROOT)} is not current: make trace", file=sys.stderr)
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
