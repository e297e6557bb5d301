"""The numbered rules, from `rules/*.toml`, and how each stands."""

from __future__ import annotations

import enum
import tomllib
from pathlib import Path

from attrs import frozen

FOLDER = Path(__file__).resolve().parent / "rules"


class Standing(enum.Enum):
    """What a rule asks of us."""

    MUST = "must"
    NOT_BUILT = "not-built"
    SUPERSEDED = "superseded"
    OUTSIDE = "outside"
    OPEN = "open"
    NON_CLAIM = "non-claim"


MEANING = {
    Standing.MUST: "It holds, and at least one test shows it.",
    Standing.NOT_BUILT: "It will hold when the part named is built; nothing shows it yet.",
    Standing.SUPERSEDED: "A decision has taken its place.",
    Standing.OUTSIDE: "A fact about others, or out of scope: nothing of ours to show.",
    Standing.OPEN: "Nobody has decided it; what is done meanwhile is named.",
    Standing.NON_CLAIM: "Expressly not promised.",
}


@frozen
class Rule:
    """One rule; `why` says why it asks for no test, where it does not."""

    id: str
    text: str
    source: str
    standing: Standing
    why: str


@frozen
class Area:
    """The rules of one subject, in their order."""

    title: str
    rules: tuple[Rule, ...]


def areas(folder: Path = FOLDER) -> list[Area]:
    """All rules by subject, in the order of the files. Raises `ValueError` for one without its words."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        title = listed.pop("title")
        found.append(Area(title, tuple(_rule(rid, entry) for rid, entry in listed.items())))
    return found


def _rule(rid: str, entry: dict[str, str]) -> Rule:
    rule = Rule(
        rid, entry["text"], entry["source"], Standing(entry.get("standing", "must")), entry.get("why", "")
    )
    if not (rule.text and rule.source):
        raise ValueError(f"{rid} has no text or no source")
    if rule.standing not in (Standing.MUST, Standing.NON_CLAIM) and not rule.why:
        raise ValueError(f"{rid} is {rule.standing.value}: say why")
    return rule
