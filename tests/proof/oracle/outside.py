"""What the oracle may look at beside the books: the world that the effects are about."""

from __future__ import annotations

from typing import Protocol


class Outside(Protocol):
    """Mailbox, bus and outbound table as the test sees them."""

    def has_row(self, msg_id: int) -> bool:
        """Whether the mailbox row is there."""
        ...

    def is_marked(self, msg_id: int) -> bool:
        """Whether the mailbox row has its processing time."""
        ...

    def bus_has(self, target: str, flid: int, version: int) -> bool:
        """Whether the bus took that record."""
        ...

    def in_cache(self, flid: int) -> int:
        """The version that the cache has of a flight; 0: none."""
        ...

    def event_of(self, target: str, event_id: int) -> tuple[int, int]:
        """Flight and version of an outbox row."""
        ...

    def refusal(self, flid: int) -> str | None:
        """The code with which the bus refuses a flight."""
        ...

    def outbound_has(self, seqn: int) -> bool:
        """Whether the outbound table has that request of ours."""
        ...
