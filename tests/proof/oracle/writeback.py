"""The oracle's write-back of one message: owed with its end, claimed, written or given up (IMP §6, D-38)."""

from __future__ import annotations

from datetime import datetime, timedelta

from attrs import define

OVERDUE = timedelta(days=7)
CLAIM = timedelta(seconds=15)
PAUSES = tuple(timedelta(seconds=s) for s in (5, 30, 120, 600))
ALERT_AT = 3


@define
class Mark:
    """`BACKFILL_*` of one message.

    `ending` is the end that it was claimed for last, `on_row` the end that the mailbox row bears.
    """

    owed_at: datetime | None = None
    attempts: int = 0
    claimed_until: datetime | None = None
    written_at: datetime | None = None
    abandoned: str | None = None
    ending: datetime | None = None
    on_row: datetime | None = None
    by_others: bool = False

    def owe(self, now: datetime) -> None:
        """R-135: the intent comes with the end; what is written already is owed no more (H-25)."""
        if self.written_at is None:
            self.owed_at = now

    def is_claimed(self, now: datetime) -> bool:
        """R-121: somebody is writing it just now."""
        return self.claimed_until is not None and self.claimed_until > now

    def is_due(self, now: datetime, enqueued_at: datetime) -> bool:
        """R-137 to R-139: owed, its pause over or past `R`, given up by nobody, claimed by nobody."""
        if self.written_at is not None or self.abandoned is not None or self.is_claimed(now):
            return False
        return self.owed_at is None or self.owed_at <= now or enqueued_at < now - OVERDUE

    def claim(self, now: datetime, ending: datetime | None) -> None:
        """D-25: nobody replays it meanwhile; the claim of a process that is held up runs out."""
        self.claimed_until, self.ending = now + CLAIM, ending

    def write(self, now: datetime) -> None:
        """R-143, R-144."""
        self.written_at, self.owed_at, self.claimed_until = now, None, None

    def retry(self, now: datetime) -> bool:
        """R-146, R-151: again after a pause, for as long as `R`; whether that is worth an alert."""
        self.attempts += 1
        self.owed_at = now + PAUSES[min(self.attempts, len(PAUSES)) - 1]
        self.claimed_until = None
        return self.attempts == ALERT_AT

    def abandon(self, why: str) -> None:
        """R-134, R-145: no more by itself; that is not written back."""
        self.abandoned, self.owed_at, self.claimed_until = why, None, None

    def forget(self) -> None:
        """H-25: a replay takes back all but what is written."""
        self.owed_at, self.attempts, self.claimed_until, self.abandoned = None, 0, None, None
