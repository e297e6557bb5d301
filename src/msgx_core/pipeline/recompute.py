"""One applied message decided again: at its time, with the settings and the coverage it had (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import cast

from attrs import define, field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.change import Change, FlightQuery
from msgx_core.model.message import DecodedMessage, ErrorAnswer, MsgKind
from msgx_core.model.schedule import Coverage, Interval, Nothing
from msgx_core.pipeline.desk import Apply, Decision, Desk, Work, succeeded
from msgx_core.pipeline.handlers import decide
from msgx_core.pipeline.handlers.errors import error_detail
from msgx_core.pipeline.handlers.schedule import decide_covered
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inspection import PINS, Inspection
from msgx_core.ports.operations import Row
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Silent
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import POLICY_PIN, parse_grounds, parse_policy, text_digest
from msgx_core.rules.snapshot_log import mark_sender

TextSource = Callable[[Row], RawText | None]
"""Finds the raw text of a `PROC_STATE` row again; None when nobody has it any more."""


@frozen
class Instant:
    """A clock that stands still."""

    at: datetime

    def now(self) -> datetime:
        """That instant."""
        return self.at

    def monotonic_s(self) -> float:
        """No time passes."""
        return 0.0


@define
class Policies:
    """The settings of each time, by the digest that a message names.

    A digest that the store does not know, or none, means `today`.
    """

    today: Policy
    pins: Mapping[str, str]
    zone_of: Callable[[str], tzinfo]
    assumed: int = 0
    missing: set[str] = field(factory=set, init=False)
    _known: dict[str, Policy | None] = field(factory=dict, init=False)

    @classmethod
    def kept_in(cls, store: Inspection, today: Policy, zone_of: Callable[[str], tzinfo]) -> Policies:
        """Those that a store has kept."""
        rows = store.stored(PINS)
        pins = {r["NAME"]: r["VALUE"] for r in rows if isinstance(r["NAME"], str)}
        return cls(today, {name: text for name, text in pins.items() if isinstance(text, str)}, zone_of)

    def of(self, coverage: str | None) -> Policy:
        """The settings under which a message was applied."""
        digest = parse_grounds(coverage).policy
        if digest is not None and digest not in self._known:
            self._known[digest] = self._read(digest)
        found = None if digest is None else self._known[digest]
        if found is None:
            self.assumed += 1
            return self.today
        return found

    def known(self) -> Iterator[Policy]:
        """All settings met so far, and today's."""
        yield self.today
        yield from (policy for policy in self._known.values() if policy is not None)

    def kept(self) -> Iterator[Policy]:
        """Today's settings and all that the store has kept, as far as they can be read; each once."""
        found = [self.today]
        for name in sorted(self.pins):
            digest = name.removeprefix(POLICY_PIN)
            if digest != name and digest not in self._known:
                self._known[digest] = self._read(digest)
            policy = self._known.get(digest)
            found += [policy] if policy is not None and policy not in found else []
        yield from found

    def _read(self, digest: str) -> Policy | None:
        """The settings of a digest; it is `missing` when the store does not hold them."""
        text = self.pins.get(f"{POLICY_PIN}{digest}")
        if text is None:
            self.missing.add(digest)
        if text is None or text_digest(text) != digest:
            return None
        try:
            return parse_policy(text, self.zone_of)
        except (ValueError, LookupError, TypeError, AttributeError):
            return None


def coverage_of(text: str | None) -> Coverage | None:
    """The coverage that a message had; None when it cannot be read."""
    try:
        found = parse_coverage(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    naive = isinstance(found, Interval) and None in (found.first.tzinfo, found.last.tzinfo)
    return None if naive else found


def decide_again(
    row: Row, raw: RawText, world: Recomputed, codec: Codec, policy: Policy, at: datetime
) -> tuple[DecodedMessage, Decision]:
    """The message and its decision on `world`.

    Raises `MessageError` where the message is wrong in itself.
    """
    message = codec.decode(raw)

    def locate(error: MessageError) -> None:
        codec.locate(raw, error)

    received = row.get("RECEIVED_AT") or row.get("ENQUEUED_AT") or at
    work = Work(row["MSG_ID"], message, received, 0.0, locate)
    return message, decided(work, world, policy, at, row.get("COVERAGE"))


def decided(work: Work, world: Recomputed, policy: Policy, at: datetime, coverage: str | None) -> Decision:
    """The decision of a message that was let in; requests are taken to have been open."""
    if work.message.kind is MsgKind.ERROR_ANSWER:
        return answered(work, world, at)
    desk = Desk(cast(PipelineStore, world), Instant(at), policy, Silent())
    if work.message.kind is MsgKind.SCHEDULE and work.message.meta.styp == "RESP":
        return decide_covered(work, desk, coverage_of(coverage) or Nothing())
    return decide(work, desk)


def answered(work: Work, world: Recomputed, at: datetime) -> Apply:
    """An answer that only closed a request, and marked its sender (D-32)."""
    meta, body = work.message.meta, work.message.body
    held = world.read(FlightQuery(sndr=meta.sndr)).sender
    outcome = succeeded(None, error_detail(body if isinstance(body, ErrorAnswer) else None))
    return Apply(Change(work.msg_id, at, outcome, sender=mark_sender(held, meta)))
