"""The event bus port (IMP §8, D-28, D-29)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen


@frozen
class BusRecord:
    """One record; `key` None lets the bus choose the partition. `value` is UTF-8 JSON."""

    topic: str
    key: str | None
    value: bytes


@frozen
class Delivery:
    """What the broker confirmed for one record: `code` None is success, else its refusal.

    `too-large` is a value above `max_bytes`; any other code is for people.
    """

    code: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the broker took the record."""
        return self.code is None


class Bus(Protocol):
    """At-least-once publishing. Bounded in time.

    Raises `Transient("bus", …)` when the bus is unreachable: then nothing is known about the records and
    all of them may be sent again. `max_bytes` is the largest value it takes.
    """

    max_bytes: int

    def publish(self, records: Sequence[BusRecord]) -> Sequence[Delivery]:
        """Send and wait for the confirmation of each; results in the order of `records`.

        Records with one key arrive in their order. One refusal harms no other record.
        """
        ...

    def check_topics(self) -> None:
        """At start: return when the topics can be used.

        `ConfigError` names those that are missing or not for us; `Transient` a bus that does not answer.
        A bus that makes its topics by itself has nothing to check.
        """
        ...

    def ping(self) -> None:
        """Return when the bus answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Give connections back. Idempotent."""
        ...
