"""The `FLOP` sub-types that the whitelist setting can name (IMP §12.2, D-18)."""

from __future__ import annotations

from typing import NamedTuple

from msgx_core.model import sis

from .kinds import Kind, as_list, as_text, refuse

BASELINE_STYPS = sis.whitelist("baseline")
ALL_STYPS = sis.whitelist("all")
EXTENDED_STYPS = sis.whitelist("extended")
KNOWN_STYPS = frozenset(sis.FLOP_ROWS)

WHITELISTS = {"baseline": BASELINE_STYPS, "all": ALL_STYPS, "extended": EXTENDED_STYPS}


class Whitelist(NamedTuple):
    """`name` is `baseline`, `all`, `extended` or `list`; `styps` are the sub-types let through."""

    name: str
    styps: frozenset[str]

    def __str__(self) -> str:
        return " ".join(sorted(self.styps)) if self.name == "list" else self.name


def _whitelist(value: object) -> Whitelist:
    if isinstance(value, Whitelist):
        return value
    names = [as_text(item) for item in as_list(value)]
    if len(names) == 1 and names[0].lower() in WHITELISTS:
        return Whitelist(names[0].lower(), WHITELISTS[names[0].lower()])
    if not names:
        raise refuse("it is empty")
    mixed = [name for name in names if name.lower() in WHITELISTS]
    if mixed:
        raise refuse(f"{mixed[0]} stands alone, not in a list")
    return Whitelist("list", frozenset(name.upper() for name in names))


whitelist: Kind[Whitelist] = Kind(
    'baseline, all, extended or a list of FLOP sub-types such as "GTDT CKDT ESTT"', _whitelist
)
