"""What verification finds: one difference between what is stored and what was computed again (D-36)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from msgx_core.ports.inspection import StoredRow, Table, Unreadable


@frozen
class Difference:
    """One difference. None: there is no such value, or no such row.

    `kind` is `flight`, `roster`, `reference`, `floor`, `sender`, `event`, `message`, `counter`, `settings`,
    `audit`, `step`, `archive` or `stray`. A stored value that cannot be read is `Unreadable`, a difference by
    itself. `table` has the column that `field` names, or the columns of which it is a part.
    """

    kind: str
    table: str
    key: str
    field: str
    stored: Any
    computed: Any

    @property
    def is_unreadable(self) -> bool:
        """Whether the stored value cannot be read: that is told whatever the rest of its row says."""
        return isinstance(self.stored, Unreadable)


def unreadable(kind: str, table: Table, key: object, row: StoredRow) -> Iterator[Difference]:
    """Every value of a row that cannot be read, each field of a flight by its tag."""
    for name, value in row.items():
        if isinstance(value, Unreadable):
            yield Difference(kind, table.name, str(key), name, value, None)
        elif name == "CONTENT" and isinstance(value, Mapping):
            for tag, each in value.items():
                if isinstance(each, Unreadable):
                    yield Difference(kind, table.name, str(key), tag, each, None)


def json_parts(stored: str, computed: str, ignored: frozenset[str] = frozenset()) -> tuple[Any, Any]:
    """Of two texts that are JSON objects the keys that differ; the texts where that tells nothing.

    They are equal where nothing but `ignored` keys differ.
    """
    try:
        theirs, mine = json.loads(stored), json.loads(computed)
    except (ValueError, RecursionError):
        return stored, computed
    if not isinstance(theirs, dict):
        return stored, computed
    names = [name for name in {**theirs, **mine} if theirs.get(name) != mine.get(name)]
    if not names:
        return stored, computed
    told = [name for name in names if name not in ignored]
    return {name: theirs.get(name) for name in told}, {name: mine.get(name) for name in told}


def key_text(value: Any) -> str:
    """A part of a key for people."""
    return value.text if isinstance(value, Unreadable) else str(value)
