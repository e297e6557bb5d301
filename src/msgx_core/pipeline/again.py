"""Applied messages decided once more, with what happened between them, on flights in memory (D-36)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from attrs import define, field

from msgx_core.errors import MessageError
from msgx_core.model.change import Change
from msgx_core.model.reference import ReplaceCategory
from msgx_core.model.schedule import Days
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.pipeline.checking import Checking
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.heads import is_blank
from msgx_core.pipeline.recompute import Policies, TextSource, coverage_of, decide_again
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.telling import named_flights
from msgx_core.pipeline.timeline import Departed, Raise, Timeline
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inspection import MESSAGES, PINS, Inspection, StoredRow, Unreadable
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import POLICY_PIN, parse_grounds

_WITHOUT_FLIGHTS = frozenset({*CATEGORIES, RSTA, "EROR"})


@define
class Again:
    """Moves `world` on, message by message. With `checking` what the store says of each is checked too."""

    store: Inspection
    text: TextSource
    codec: Codec
    policies: Policies
    world: Recomputed
    doubts: Doubts
    timeline: Timeline
    checking: Checking | None = None
    _schedules: set[str] = field(factory=set, init=False)
    _names_settings: bool = field(default=False, init=False)
    _policy: Policy | None = field(default=None, init=False)

    def begin(self, at: datetime | None) -> None:
        """Start over: what was before `at` (None: everything) is not known. Floors stay."""
        self.world.forget()
        self.doubts.begin(at)

    def message(self, row: StoredRow, notices: Sequence[StoredRow]) -> None:
        """Do what the message did; what nobody knows of it is in doubt. `notices` are its `msg` events."""
        if self.checking is not None:
            self.checking.applied(row)
            row = self.checking.corrected(row, notices)
        at = row["APPLIED_AT"]
        if not isinstance(at, datetime):
            self._lost(row, notices)
            return
        self.between(row["APPLY_NO"], at)
        coverage = row["COVERAGE"]
        if isinstance(coverage, Unreadable) or coverage_of(coverage) is None:
            if row["STYP"] == "RESP":
                self._lost(row, notices)
                return
            coverage = None
        known = readable(row)
        raw = self.text(known)
        if raw is None or is_blank(raw):
            self._tell(row, "RAW", "applied", "no text is left of it")
            self._lost(row, notices)
        else:
            self._decide(row, known | {"COVERAGE": coverage}, raw, notices)

    def between(self, apply_no: int | None, at: datetime) -> None:
        """Let pass what was done between messages, until `at`."""
        for event in self.timeline.before(apply_no, at):
            if isinstance(event, Raise):
                self.world.raise_versions(event.by)
            else:
                self._depart(event)

    def passed(self, at: datetime) -> None:
        """What left after the range says nothing about it; versions raised since are in the store."""
        for event in self.timeline.before(None, at):
            if isinstance(event, Raise):
                self.world.raise_versions(event.by)
                continue
            for flid in event.floors:
                self.doubts.leave(flid)

    def other(self, row: StoredRow) -> None:
        """Check what the store says of a message without effects."""
        if self.checking is not None:
            self.checking.unapplied(row, lambda: self.text(readable(row)), self.codec)

    def _decide(
        self, row: StoredRow, known: dict[str, Any], raw: RawText, notices: Sequence[StoredRow]
    ) -> None:
        policy = self._settings(row, known["COVERAGE"])
        try:
            message, decision = decide_again(known, raw, self.world, self.codec, policy, row["APPLIED_AT"])
        except MessageError as error:
            self._contradicts(row, notices, f"DEAD {error.reason}")
            return
        except Exception as error:
            self._tell(row, "STATE", row["STATE"], f"CODEC_ERROR {type(error).__name__}")
            self._lost(row, notices)
            return
        flids = named_flights(message)
        if self.doubts.lost and isinstance(decision, Apply):
            as_recorded = row["OUTCOME_REASON"] == decision.change.outcome.reason
            self.doubts.flids |= set() if as_recorded else flids
        if isinstance(decision, Apply):
            if self.checking is not None:
                self.checking.text(row, raw, message)
                self.checking.outcome(row, decision.change, flids)
                self.checking.events.notices(row, notices, decision.change)
            self.world.commit(decision.change)
            self._known_again(decision.change)
            return
        if self.checking is not None:
            self.checking.text(row, raw, message)
        if self.doubts.whole and self.doubts.flids.isdisjoint(flids):
            self._contradicts(row, notices, f"SKIPPED {decision.outcome.reason}")

    def _known_again(self, change: Change) -> None:
        """A sender's last message after a lost one (not its last schedule), and lists that are replaced."""
        sender = change.sender
        if sender is not None and sender.sndr not in self._schedules:
            self.doubts.senders.discard(sender.sndr)
        for each in change.reference:
            if isinstance(each, ReplaceCategory):
                self.doubts.rtypes.discard(each.rtype)

    def _settings(self, row: StoredRow, coverage: str | None) -> Policy:
        """The settings of then. Once messages name them, all do."""
        unknown = len(self.policies.missing)
        policy = self.policies.of(coverage)
        digest = parse_grounds(coverage).policy
        if len(self.policies.missing) > unknown:
            self._missing_settings(row, f"{POLICY_PIN}{digest}")
        names = digest is not None
        is_read = isinstance(row["COVERAGE"], str | None) and coverage_of(row["COVERAGE"]) is not None
        if self._names_settings and not names and is_read:
            self._tell(row, "COVERAGE", row["COVERAGE"], "with the settings")
        self._names_settings = self._names_settings or names
        self._policy = policy
        return policy

    def _missing_settings(self, row: StoredRow, name: str) -> None:
        """Told once, with the first message that names them."""
        if self.checking is not None:
            named = f"the settings that message {row['MSG_ID']} names, perhaps others too"
            self.checking.found(Difference("settings", PINS.name, f"pin.{name}", "NAME", None, named))

    def _contradicts(self, row: StoredRow, notices: Sequence[StoredRow], computed: str) -> None:
        """An applied message has no effects by its text; where others are lost, these may be why."""
        if self.doubts.lost:
            self._lost(row, notices)
        else:
            self._tell(row, "STATE", row["STATE"], computed)

    def _lost(self, row: StoredRow, notices: Sequence[StoredRow]) -> None:
        """What the message did is not known: doubt what it touched, or else what is ahead by a step."""
        self.doubts.senders.add(row["SNDR"])
        if row["STYP"] in ("DNLD", "RESP"):
            self._schedules.add(row["SNDR"])
        if row["TYPE"] in _WITHOUT_FLIGHTS:
            self.doubts.rtypes.add(row["TYPE"])
            return
        coverage = coverage_of(row["COVERAGE"]) if isinstance(row["COVERAGE"], str | None) else None
        self.doubts.days |= coverage.days if isinstance(coverage, Days) else frozenset()
        touched = row.get("TOUCHED")
        flids = set(touched) if isinstance(touched, list) else {event["FLID"] for event in notices}
        self.doubts.flids |= flids
        if not flids and row["OUTCOME_REASON"] != "already-gone":
            self.doubts.lost += 1

    def _depart(self, event: Departed) -> None:
        leaving = self._leaving(event)
        self.world.depart(leaving, event.at, self._policy or self.policies.today)
        for flid, version in event.floors.items():
            # What began before the range has another version here than it had.
            in_doubt = not self.doubts.whole or flid in self.doubts.flids
            if in_doubt and flid not in self.world.flights:
                self.world.floors[flid] = (version, event.at)

    def _leaving(self, event: Departed) -> list[int]:
        """Who left then. A step is one transaction; it may be of a time that a restored backup has undone."""
        here = [flid for flid in event.floors if flid in self.world.flights]
        votes = {self._has_left(flid, event) for flid in here}
        if True in votes:
            return here
        if False in votes:
            return []
        return [flid for flid in here if self.world.flights[flid].version + 1 == event.floors[flid]]

    def _has_left(self, flid: int, event: Departed) -> bool | None:
        """What the store says to that; None: nothing."""
        set_at = self.timeline.floors[flid][1] if flid in self.timeline.floors else None
        if set_at is not None and set_at > event.at:
            return None if self.timeline.may_leave_again(flid, event) else False
        if set_at == event.at and event.stepped:
            return True
        row = self.store.stored_flight(flid)
        created_at = None if row is None else row["CREATED_AT"]
        stays = isinstance(created_at, datetime) and created_at <= event.at
        if set_at == event.at:
            return not stays
        return False if stays else None

    def _tell(self, row: StoredRow, name: str, stored: Any, computed: Any) -> None:
        if self.checking is not None:
            self.checking.found(
                Difference("message", MESSAGES.name, str(row["MSG_ID"]), name, stored, computed)
            )


def readable(row: StoredRow) -> dict[str, Any]:
    """The row for those who find its text: what cannot be read is absent.

    The day under which it is filed is that of `RECEIVED_AT`, so where that is lost nobody may guess.
    """
    found = {name: None if isinstance(value, Unreadable) else value for name, value in row.items()}
    if isinstance(row["RECEIVED_AT"], Unreadable):
        found["ENQUEUED_AT"] = None
    return found
