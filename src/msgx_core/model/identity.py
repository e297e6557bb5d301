"""Business identity of a message: `SNDR|TYPE|STYP|SEQN`, or that with the day (IMP §2, D-23)."""

from __future__ import annotations

from typing import Self

from attrs import frozen

from msgx_core.model.message import Meta


@frozen
class Identity:
    """A bound identity compares as text; bodies never decide (R-043)."""

    key: str

    @classmethod
    def of(cls, meta: Meta, *, include_day: bool = False) -> Self:
        """The identity of a message; `include_day` adds the `YYYYMMDD` of `DTTM`.

        >>> Identity.of(Meta("AODB", "8", "20270314060000", "FLOP", "GTDT")).key
        'AODB|FLOP|GTDT|8'
        >>> Identity.of(Meta("AODB", "8", "20270314060000", "FLOP", "GTDT"), include_day=True).key
        'AODB|FLOP|GTDT|8|20270314'
        """
        parts = [meta.sndr, meta.type, meta.styp, meta.seqn]
        if include_day:
            parts.append(meta.dttm[:8])
        return cls("|".join(part.strip() for part in parts))

    def readmitted_as(self, msg_id: int) -> Self:
        """The identity under which an operator lets a wrongly skipped duplicate in (D-24)."""
        return type(self)(f"{self.key}#{msg_id}")
