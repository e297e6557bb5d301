"""What the processor says about a head: its binding, its cache entries, why it is a duplicate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgx_core.errors import CodecError
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import Binding, Holder, ProcRow
from msgx_core.model.schedule import SnapshotLogRow, SnapshotResult
from msgx_core.pipeline.desk import Close, skipped
from msgx_core.ports.cache import CacheEntry, CacheGone, CachePut
from msgx_core.ports.codec import RawText
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document, to_json
from msgx_core.rules.snapshot_log import LogContext, bare_rows


def is_blank(raw: RawText | None) -> bool:
    """Whether there is no text."""
    return raw is None or not raw.strip()


def digest_of(raw: RawText) -> str:
    """SHA-256 of a raw text (D-24)."""
    data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()


def binding_of(msg_id: int, message: DecodedMessage, raw: RawText, *, include_day: bool) -> Binding:
    """What is bound to a message after its first good decode."""
    meta = message.meta
    return Binding(
        msg_id=msg_id,
        identity_key=Identity.of(meta, include_day=include_day).key,
        sndr=meta.sndr,
        type=meta.type,
        styp=meta.styp,
        seqn=meta.seqn,
        dttm=meta.dttm,
        raw_digest=digest_of(raw),
    )


def duplicate(msg_id: int, holder: Holder, binding: Binding) -> Close:
    """Bodies never decide; other content under one identity raises an alert (D-24)."""
    outcome = skipped(f"duplicate-of:{holder.msg_id}", f"identity {binding.identity_key}")
    if holder.raw_digest is None or holder.raw_digest == binding.raw_digest:
        return Close(outcome)
    detail = f"identity {binding.identity_key} of message {holder.msg_id} with other content"
    return Close(outcome, (Alert(AlertCode.DUPLICATE_DIFFERENT_CONTENT, msg_id, detail=detail),))


def entries(puts: Sequence[FlightPut]) -> list[CacheEntry]:
    """What the cache is told about the flights of a change."""
    return [
        CacheGone(put.state.flid, put.state.version, put.state.operation_day)
        if put.document is None
        else CachePut(put.state.flid, put.state.version, put.state.operation_day, put.document)
        for put in puts
    ]


def cause_text(error: CodecError) -> str | None:
    """The exception behind a fault of ours, in few words."""
    return None if error.__cause__ is None else str(error.__cause__)[:400] or None


def entry_of(state: FlightState, policy: Policy) -> CacheEntry:
    """What the cache is told about a flight as the store has it."""
    if state.is_live:
        document = to_json(flight_document(state, policy))
        return CachePut(state.flid, state.version, state.operation_day, document)
    return CacheGone(state.flid, state.version, state.operation_day)


def replay_skipped(head: ProcRow, policy: Policy) -> tuple[SnapshotLogRow, ...]:
    """A schedule that only had to be finished leaves that trace (D-13)."""
    if head.type != "SCHD" or head.styp not in ("DNLD", "RESP"):
        return ()
    shared = LogContext(head.msg_id, head.received_at or head.enqueued_at)
    return bare_rows(shared, parse_coverage(head.coverage), SnapshotResult.REPLAY_SKIPPED, policy)
