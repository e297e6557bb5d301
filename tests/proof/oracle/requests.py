"""The oracle's requests to upstream (IMP §7.2, D-32)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from attrs import define

TIMEOUT = timedelta(minutes=30)


@define
class Asked:
    """One request; `answer` is the message that answers it, `seqn` its number once its sending has begun."""

    request_id: int
    slot: str
    rtype: str | None = None
    first: date | None = None
    last: date | None = None
    state: str = "PENDING"
    reason: str | None = None
    seqn: int | None = None
    begun_at: datetime | None = None
    sent_at: datetime | None = None
    closed_at: datetime | None = None
    answer: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether it occupies its slot: one open request each (D-32)."""
        return self.state in ("PENDING", "SENT")

    @property
    def is_free(self) -> bool:
        """Whether it waits for its answer: open, and no message has been bound to it."""
        return self.is_open and self.answer is None

    @property
    def days(self) -> Iterable[date]:
        """The operation days that are asked for: an answer covers them whole (D-11)."""
        assert self.first is not None
        assert self.last is not None
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]

    def may_be_answered_instead_of(self, open_: Asked, now: datetime, late_window: timedelta) -> bool:
        """D-32: answers carry no id; one for other days that went out and expired may still come."""
        return (
            self.slot == open_.slot
            and self.state == "EXPIRED"
            and self.begun_at is not None
            and self.answer is None
            and (self.first, self.last) != (open_.first, open_.last)
            and self.closed_at is not None
            and now - self.closed_at < late_window
        )

    def close(self, state: str, reason: str | None, now: datetime) -> None:
        """It ends, once."""
        assert self.is_open, f"request {self.request_id} ends once, and is {self.state} (R-334, R-337)"
        self.state, self.reason, self.closed_at = state, reason, now
