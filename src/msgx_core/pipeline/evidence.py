"""Evidence: the raw text of each message goes to the archive before anything else (FST §3.2, D-36).

It serves people and verification. A failed write is counted and told, and fails no message.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

from attrs import define, field

from msgx_core.model.proc import ProcRow
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.archive import Archive, DepartureStep
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import RawText
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.policy_text import parse_grounds
from msgx_core.rules.retry import outage_pause_s


@define
class Evidence:
    """The writing side of the archive; None: there is no archive, and nothing happens.

    After a failure the archive is left alone for a growing pause (1 s to 30 s): while it is down, messages
    cost one bounded try in a while, not one each.
    """

    archive: Archive | None
    clock: Clock
    telemetry: Telemetry
    on_step: Callable[[str], None] = no_step
    _failures: int = field(default=0, init=False)
    _again_s: float = field(default=0.0, init=False)

    def keep(self, msg_id: int, at: datetime, raw: RawText) -> str | None:
        """Archive a text under the day of `at`; its key, None when it was not kept. Never raises."""
        if self.archive is None:
            return None
        if self._failures and self.clock.monotonic_s() < self._again_s:
            self.telemetry.count("msgx.archive.skipped")
            return None
        try:
            key = self.archive.put(msg_id, at, raw)
        except Exception as error:
            self._failed(msg_id, error)
            return None
        if self._failures:
            self.telemetry.event("archive-answers-again", msg_id=msg_id, failures=self._failures)
            self._failures = 0
        self.telemetry.count("msgx.archive.written")
        return key

    def recall(self, msg_id: int, key: str) -> RawText | None:
        """A text that an operator has put back (`replay --from-archive`). Never raises.

        An archive that does not answer must not hold up the messages behind: the text is missing still.
        """
        if self.archive is None:
            return None
        try:
            return self.archive.get(key)
        except Exception as error:
            self.telemetry.count("msgx.archive.failed")
            self.telemetry.event("archive-read-failed", msg_id=msg_id, key=key, error=str(error))
            return None

    def keep_step(self, step: DepartureStep) -> None:
        """Archive what the history sweep has done, for verification. Never raises."""
        if self.archive is None:
            return
        try:
            self.archive.put_step(step)
        except Exception as error:
            self.telemetry.count("msgx.archive.failed")
            self.telemetry.event("archive-step-failed", flids=sorted(step.floors), error=str(error))

    def remove_expired(self, retention: timedelta) -> int:
        """Remove whole days past the age; how many objects. Raises `Transient`."""
        if self.archive is None:
            return 0
        removed = self.archive.remove_before(self._first_kept(retention))
        self.on_step(Step.EVIDENCE_REMOVED)
        if removed:
            self.telemetry.count("msgx.archive.removed", removed)
            self.telemetry.event("archive-cleaned", objects=removed)
        return removed

    def count_expired(self, retention: timedelta) -> int:
        """How many objects that would be. Raises `Transient`."""
        return 0 if self.archive is None else self.archive.count_before(self._first_kept(retention))

    def _first_kept(self, retention: timedelta) -> date:
        return (self.clock.now() - retention).date()

    def _failed(self, msg_id: int, error: Exception) -> None:
        self._failures += 1
        pause_s = outage_pause_s(self._failures)
        self._again_s = self.clock.monotonic_s() + pause_s
        self.telemetry.count("msgx.archive.failed")
        problem = f"{type(error).__name__}: {error}"
        self.telemetry.event("archive-write-failed", msg_id=msg_id, error=problem, pause_s=pause_s)

    def fetched(self, head: ProcRow, raw: RawText | None) -> tuple[RawText | None, str | None]:
        """What the mailbox gave, archived, or else what was put back; and its key. Never raises."""
        if raw is not None and raw.strip():
            return raw, self.keep(head.msg_id, filed_head(head), raw)
        key = parse_grounds(head.coverage).raw
        found = None if key is None else self.recall(head.msg_id, key)
        return (raw, None) if found is None else (found, key)


def filed_at(received_at: datetime | None, enqueued_at: datetime) -> datetime:
    """The time under whose day a message is archived: it never changes."""
    return received_at or enqueued_at


def filed_head(head: ProcRow) -> datetime:
    """The same, of a head."""
    return filed_at(head.received_at, head.enqueued_at)
