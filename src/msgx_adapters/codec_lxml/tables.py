"""What the codec looks for, worked out once from the tag tables of `sis`, and the count of the rest."""

from __future__ import annotations

from attrs import frozen

from msgx_core.model.sis import COLLECTIONS, RAW_SECTIONS, SCALARS, SINGLES

IGNORED_TAGS = 64
"""How many tags outside the model are counted by name; the rest shares one entry."""

REST = "..."
_IGNORED_CHARS = 64

FLID = "FLID"
TEXT = "TEXT"


@frozen
class Shape:
    """One complex element: keys read from children and from attributes, and whether its text counts.

    Keys are mapped to themselves: the mapped string is shared, the one from the parser is not.
    """

    children: dict[str, str]
    attributes: dict[str, str]
    has_text: bool = False
    dropped: frozenset[str] = frozenset()


def _shapes() -> dict[str, Shape]:
    shapes = {
        tag: Shape({}, {name: name for name in single.attributes}, has_text=True)
        for tag, single in SINGLES.items()
    }
    for tag, row in COLLECTIONS.items():
        sequence = () if row.sequence is None else (row.sequence,)
        # Times of a route are sent, known, and never kept (D-19).
        dropped = frozenset({"SCAT", "SCDT"}) if row.truncated else frozenset[str]()
        shapes[tag] = Shape(
            {key: key for key in row.keys},
            {name: name for name in (*sequence, *row.attributes)},
            row.has_text,
            dropped,
        )
    return shapes


SCALAR_TAGS: dict[str, str] = {tag: tag for tag in (FLID, *SCALARS)}
SHAPES: dict[str, Shape] = _shapes()
SECTIONS: frozenset[str] = frozenset(RAW_SECTIONS)


class Ignored:
    """Counts tags outside the model (H-11); a hostile message cannot make it grow."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, tag: str) -> None:
        """Count one element or attribute by its name."""
        name = tag if len(tag) <= _IGNORED_CHARS else tag[:_IGNORED_CHARS] + REST
        if name not in self.counts and len(self.counts) >= IGNORED_TAGS:
            name = REST
        self.counts[name] = self.counts.get(name, 0) + 1
