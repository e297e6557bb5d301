"""The oracle's messages: one row of the mailbox and its fate."""

from __future__ import annotations

from datetime import datetime, timedelta

from attrs import Factory, define

from msgx_core.testing.wire import WireMessage
from tests.proof.oracle.fate import Fate
from tests.proof.oracle.writeback import Mark

ATTEMPTS = 3
BACKOFF = (timedelta(seconds=1), timedelta(seconds=5))
FINAL = ("SUCCEEDED", "SKIPPED", "DEAD")
REPLAYABLE = {"CODEC_ERROR", "INFRA", "PROTOCOL", "EXHAUSTED"}


@define
class Message:
    """One row of the mailbox and its fate. `sent` None: it never had a text; `gone`: the row is gone."""

    msg_id: int
    sent: WireMessage | None
    gone: bool = False
    known: bool = False
    received_at: datetime | None = None
    enqueued_at: datetime | None = None
    state: str = "PENDING"
    code: str | None = None
    reason: str | None = None
    attempts: int = 0
    due: datetime | None = None
    identity: str | None = None
    digest: bytes | None = None
    trying: bool = False
    applied: Fate | None = None
    finished_at: datetime | None = None
    mark: Mark = Factory(Mark)

    @property
    def is_final(self) -> bool:
        """Whether it has ended (R-110)."""
        return self.state in FINAL

    def may_be_replayed(self, now: datetime, *, force: bool) -> bool:
        """R-120, R-121, D-25: failed or dead, of a kind that may get better, and no write-back under way."""
        better = force or self.code in REPLAYABLE or self.reason == "raw-missing"
        return self.state in ("FAILED", "DEAD") and better and not self.mark.is_claimed(now)

    def replay(self) -> None:
        """H-25, R-046: as if it had just come, with its identity and what it has done."""
        self.state, self.code, self.reason = "PENDING", None, None
        self.attempts, self.due, self.trying, self.finished_at = 0, None, False, None
        self.mark.forget()

    @property
    def duplicate_of(self) -> int | None:
        """The message that held its identity, if that is why it was skipped."""
        reason = self.reason or ""
        skipped = self.state == "SKIPPED" and reason.startswith("duplicate-of:")
        return int(reason.removeprefix("duplicate-of:")) if skipped else None
