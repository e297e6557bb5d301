"""What an explanation says around the rules: how a message was let in, how it failed, where it ended."""

from __future__ import annotations

from typing import Any

from msgx_core.errors import MessageError
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage, FlightRecord, SchedulePackage
from msgx_core.model.proc import MessageState, Outcome
from msgx_core.pipeline.desk import Apply, Decision
from msgx_core.pipeline.traces import Ruled
from msgx_core.ports.codec import RawText
from msgx_core.ports.operations import Row
from msgx_core.rules.policy import Policy
from msgx_core.rules.sources import source_of
from msgx_core.rules.values import parse_flid


def unit(raw: RawText) -> str:
    """In what a text is counted."""
    return "characters" if isinstance(raw, str) else "bytes"


def let_in(message: DecodedMessage, row: Row, policy: Policy) -> list[Ruled]:
    """Kind, ignored tags and identity."""
    meta = message.meta
    found = [
        Ruled(
            "TYPE and STYP decide the kind", "IMP §2, H-07", f"{meta.type}/{meta.styp}: {message.kind.value}"
        )
    ]
    if message.ignored:
        tags = ", ".join(f"{tag} × {n}" for tag, n in sorted(message.ignored.items()))
        found.append(Ruled("tags outside the model are ignored", "D-14, H-11", tags))
    key = row.get("IDENTITY_KEY") or Identity.of(meta, include_day=policy.include_day_boundary).key
    found.append(Ruled("identity", "IMP §4.2, D-23", str(key)))
    return found


def failed(error: MessageError) -> Ruled:
    """The rule that an error names."""
    rule, source = source_of(error.reason)
    detail = f" ({error.detail})" if error.detail else ""
    return Ruled(rule, source, f"DEAD {error.code} {error.reason}{detail}")


def fault(name: str, error: Exception) -> Ruled:
    """A fault of our own, `codec-exception` or `handler-exception` (D-25)."""
    rule, source = source_of(name)
    return Ruled(rule, source, f"CODEC_ERROR {name}:{type(error).__name__} ({str(error)[:200]})")


def ended(row: Row, error: MessageError) -> list[Ruled]:
    """The rule that decided, and where the message is now where that is not the same."""
    recorded = (row["STATE"], row.get("ERROR_CODE"), row.get("REASON"))
    is_recorded = recorded == (MessageState.DEAD.value, error.code, error.reason)
    return [failed(error)] if is_recorded else [failed(error), *end(row)]


def closed(row: Row, outcome: Outcome) -> list[Ruled]:
    """The same of a message without effects."""
    rule, source = source_of(outcome.reason)
    detail = f" ({outcome.detail})" if outcome.detail else ""
    parts = (outcome.state.value, outcome.code, outcome.reason)
    decided = Ruled(rule, source, " ".join(part for part in parts if part) + detail)
    recorded = (row["STATE"], row.get("ERROR_CODE"), row.get("REASON"))
    return [decided] if recorded == parts else [decided, *end(row)]


def end(row: Row) -> list[Ruled]:
    """Where the message is now, and why."""
    state = MessageState(row["STATE"])
    if state in (MessageState.PENDING, MessageState.FAILED):
        return [Ruled("the head and nothing but the head", "IMP §5.1", f"{state.value}: it waits")]
    reason = row.get("REASON")
    said = " ".join(str(part) for part in (state.value, row.get("ERROR_CODE"), reason) if part)
    rule, source = source_of(reason) if reason else ("ended with its effects", "IMP §5.2, D-02")
    return [Ruled(rule, source, said)]


def differs(row: Row, outcome: Outcome) -> str | None:
    """A word when a decision comes out otherwise than it is recorded."""
    if row["STATE"] in ("PENDING", "FAILED") or (row["STATE"], row.get("REASON")) == (
        outcome.state.value,
        outcome.reason,
    ):
        return None
    recorded = " ".join(str(part) for part in (row["STATE"], row.get("REASON")) if part)
    computed = " ".join(str(part) for part in (outcome.state.value, outcome.reason) if part)
    return f"recorded as {recorded}; decided again it would be {computed}"


def other(row: Row, decision: Decision | None) -> str | None:
    """The same, of a decision. One that was applied and found no end has what it decided apart (D-05)."""
    if decision is None:
        return None
    if row.get("APPLIED_AT") is not None and row.get("ERROR_CODE") == "EXHAUSTED":
        row = {**row, "STATE": MessageState.SUCCEEDED.value, "REASON": row.get("OUTCOME_REASON")}
    return differs(row, decision.change.outcome if isinstance(decision, Apply) else decision.outcome)


def named_flights(message: DecodedMessage) -> set[int]:
    """Flights that a message names, main flights too."""
    body: Any = message.body
    records = body.records if isinstance(body, SchedulePackage) else (body,)
    found: set[int] = set()
    for record in records:
        if isinstance(record, FlightRecord):
            texts = (record.flid or "", record.values.get("MAID", ""))
            found |= {flid for flid in map(parse_flid, texts) if flid is not None}
    return found
