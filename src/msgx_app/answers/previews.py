"""What a replay would do today, as a document: the outcome, and each flight before and after."""

from __future__ import annotations

from typing import Any, cast

from attrs import frozen

from msgx_core.model.change import Change, FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import PutRecord, RefChange, RemoveRecord, ReplaceCategory
from msgx_core.pipeline.config import PipelineConfig
from msgx_core.pipeline.desk import Apply, Close, Desk
from msgx_core.pipeline.processor import MessageProcessor
from msgx_core.pipeline.replay import Preview, ReplayService
from msgx_core.ports import Cache, Clock, Codec, Inbox, RawText, Silent, Store
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document

_NOT_COMPARED = frozenset({"FLID", "STATE_VERSION", "UPDATED_AT", "LAST_MSG_ID"})


@frozen
class Previewer:
    """Decides on messages as a replay would, and writes nothing."""

    service: ReplayService
    store: Store
    policy: Policy

    @classmethod
    def on(cls, store: Store, inbox: Inbox, codec: Codec, clock: Clock, config: PipelineConfig) -> Previewer:
        """On parts that need not be those of a running pipeline."""
        desk = Desk(store, clock, config.policy, Silent())
        # A preview stops before ②: there is no cache to be had.
        processor = MessageProcessor(inbox, cast(Cache, None), codec, desk, config.retry)
        return cls(ReplayService(store, processor, clock), store, config.policy)

    def document(self, msg_id: int, *, force: bool, raw: RawText | None = None) -> dict[str, Any]:
        """The effect of one message on today's state; `REFUSED` when it would not be let in."""
        preview = self.service.preview(msg_id, force=force, raw=raw)
        if preview is None:
            return {"MSG_ID": msg_id, "REFUSED": "unknown message"}
        found = _document(preview, self.store, self.policy)
        return {key: value for key, value in found.items() if value is not None}


def _document(preview: Preview, store: Store, policy: Policy) -> dict[str, Any]:
    message, outcome = preview.message, preview.outcome
    document: dict[str, Any] = {
        "MSG_ID": preview.msg_id,
        "REFUSED": preview.refused,
        "TYPE": None if message is None else message.meta.type,
        "STYP": None if message is None else message.meta.styp,
        "STATE": outcome.state,
        "ERROR_CODE": outcome.code,
        "REASON": outcome.reason,
        "DETAIL": outcome.detail,
    }
    match preview.decision:
        case Apply(change=change):
            document |= _effects(change, store, policy)
            alerts = change.alerts
        case Close(alerts=alerts):
            pass
        case None:
            alerts = ()
    document["ALERTS"] = [
        {"CODE": alert.code, "FLID": alert.flid, "DETAIL": alert.detail} for alert in alerts
    ] or None
    return document


def _effects(change: Change, store: Store, policy: Policy) -> dict[str, Any]:
    flights = [_flight(store.flight(put.state.flid), put, policy) for put in change.flights]
    return {"FLIGHTS": flights, "REFERENCE": reference_rows(change) or None}


def reference_rows(change: Change) -> list[dict[str, Any]]:
    """What a change does to reference data."""
    return [_reference(each) for each in change.reference]


def _flight(before: FlightState | None, put: FlightPut, policy: Policy) -> dict[str, Any]:
    return {
        "FLID": put.state.flid,
        "FROM_VERSION": put.read_version,
        "STATE_VERSION": put.state.version,
        "REASON": put.reason,
        "CHANGES": changes(before, put.state, policy),
    }


def changes(before: FlightState | None, after: FlightState, policy: Policy) -> list[dict[str, Any]]:
    """Every tag that differs, with its value before and after; no key: no value."""
    old = {} if before is None else flight_document(before, policy)
    new = flight_document(after, policy)
    return [
        {"TAG": tag, "BEFORE": old.get(tag), "AFTER": new.get(tag)}
        for tag in {**new, **old}
        if tag not in _NOT_COMPARED and old.get(tag) != new.get(tag)
    ]


def _reference(change: RefChange) -> dict[str, Any]:
    match change:
        case ReplaceCategory(rtype, records):
            return {"RTYPE": rtype, "ACTION": "REPLACE", "RKEYS": [record.rkey for record in records]}
        case PutRecord(record):
            return {"RTYPE": record.rtype, "ACTION": "PUT", "RKEYS": [record.rkey]}
        case RemoveRecord(rtype, rkey):
            return {"RTYPE": rtype, "ACTION": "REMOVE", "RKEYS": [rkey]}
