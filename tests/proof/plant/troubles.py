"""What may go wrong in the middle of a piece of work; at most one thing in each."""

from __future__ import annotations

from attrs import define, field, frozen


@frozen
class Crash:
    """The process is gone at a boundary, after it has passed so many."""

    after: int


@frozen
class Takeover:
    """At a boundary the lease runs out: the other instance takes over and works for some ticks."""

    after: int
    ticks: int


@frozen
class Meanwhile:
    """At a boundary something else happens: see `MEANWHILE`."""

    after: int
    what: str


@frozen
class NoAnswer:
    """A call that changes something, after so many, gets no answer; `done`: it took place all the same."""

    after: int
    done: bool


MEANWHILE = ("replay", "request", "late-row", "pause", "cache-lost", "row-gone")
"""People replay or ask, a late row is committed, the process is held up for longer than its claims last (and
people replay all they can), the cache is lost, the row in hand is removed.
"""

Trouble = Crash | Takeover | Meanwhile | NoAnswer


@define
class Fuse:
    """Counts boundaries, or calls, and says when the trouble is due: once."""

    trouble: Trouble | None = None
    _left: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._left = 0 if self.trouble is None else self.trouble.after

    def at_boundary(self) -> Crash | Takeover | Meanwhile | None:
        """The trouble that is due at this boundary."""
        return None if isinstance(self.trouble, NoAnswer) or not self._burnt() else self._take()

    def at_call(self) -> NoAnswer | None:
        """The trouble that this call is in for."""
        if not isinstance(self.trouble, NoAnswer) or not self._burnt():
            return None
        found, self.trouble = self.trouble, None
        return found

    def _take(self) -> Crash | Takeover | Meanwhile | None:
        found, self.trouble = self.trouble, None
        return None if isinstance(found, NoAnswer) else found

    def _burnt(self) -> bool:
        self._left -= 1
        return self.trouble is not None and self._left < 0
