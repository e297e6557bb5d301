"""The verdict on a message that needs no state: decoded, then decided on as if the store were empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from attrs import evolve

from msgx_app import backends
from msgx_app.container import policy_of
from msgx_app.settings import Settings
from msgx_core.errors import Malformed, MessageError
from msgx_core.model.change import FlightQuery, FlightSnapshot
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage, FlightRecord, MsgKind, ReferencePackage, SchedulePackage
from msgx_core.model.proc import MessageState, Outcome
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import DnldCoverage
from msgx_core.pipeline.desk import Apply, Decision, Desk, Work, dead
from msgx_core.pipeline.handlers import decide
from msgx_core.ports import Codec, PipelineStore, Silent
from msgx_core.rules.policy import MissingFlight, Policy
from msgx_core.rules.records import BadValue, read_record
from msgx_core.rules.values import parse_flid

_MOST_PROBLEMS = 50


class EmptyStore:
    """The reads of a decision, on a system that has seen nothing yet."""

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """No flights, no rosters."""
        return FlightSnapshot()

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """No requests."""
        return ()


def verdict(raw: bytes, settings: Settings) -> dict[str, Any]:
    """What `msgx decode` says: `STATE` is where the message would end."""
    codec = backends.open_codec(settings)
    policy = policy_of(settings)
    try:
        if not raw.strip():
            raise Malformed("raw-missing", line=1, column=1, text="")
        message = codec.decode(raw)
    except MessageError as error:
        return {**_outcome(dead(error)), "PROBLEMS": [_problem(error)]}
    found = {**_about(message, policy), **_note(message)}
    fatal: list[MessageError] = []

    def locate(error: MessageError) -> None:
        codec.locate(raw, error)
        fatal.append(error)

    try:
        outcome = _outcome_of(_decided(message, policy, locate))
    except MessageError as error:
        locate(error)
        outcome = dead(error)
    if outcome.state is MessageState.DEAD:
        return {**found, **_outcome(outcome), "PROBLEMS": [_problem(error) for error in fatal]}
    dropped = [_located(bad, codec, raw) for bad in _dropped(message, policy)]
    return {**found, **_outcome(outcome), "PROBLEMS": dropped}


def _about(message: DecodedMessage, policy: Policy) -> dict[str, Any]:
    meta, body = message.meta, message.body
    about: dict[str, Any] = {
        "KIND": message.kind,
        "TYPE": meta.type,
        "STYP": meta.styp,
        "SNDR": meta.sndr,
        "SEQN": meta.seqn,
        "DTTM": meta.dttm,
        "IDENTITY": Identity.of(meta, include_day=policy.include_day_boundary).key,
    }
    if isinstance(body, SchedulePackage | ReferencePackage):
        about |= {"RECS": body.recs, "RECORDS": len(body.records)}
    flids = [flid for flid in (parse_flid(record.flid or "") for record in _records(message)) if flid]
    about |= {"FLIDS": flids} if flids else {}
    about |= {"IGNORED": dict(message.ignored)} if message.ignored else {}
    return about


def _records(message: DecodedMessage) -> Sequence[FlightRecord]:
    match message.body:
        case SchedulePackage(records=records):
            return records
        case FlightRecord() as record:
            return (record,)
        case _:
            return ()


def _decided(message: DecodedMessage, policy: Policy, locate: Callable[[MessageError], None]) -> Decision:
    """On an empty system. An answer is judged by its content, as if it had been asked for."""
    policy = evolve(policy, missing_flight=MissingFlight.CREATE)
    if _is_answer(message):
        message = evolve(message, meta=evolve(message.meta, styp="DNLD"))
        policy = evolve(policy, dnld_coverage=DnldCoverage.WINDOW)
    clock = backends.system_clock()
    desk = Desk(cast(PipelineStore, EmptyStore()), clock, policy, Silent())
    return decide(Work(0, message, clock.now(), clock.monotonic_s(), locate), desk)


def _is_answer(message: DecodedMessage) -> bool:
    return message.kind is MsgKind.SCHEDULE and message.meta.styp == "RESP"


def _note(message: DecodedMessage) -> dict[str, str]:
    if _is_answer(message):
        return {"NOTE": "an answer: without an open schedule request it is SKIPPED unmatched-response"}
    return {}


def _outcome_of(decision: Decision) -> Outcome:
    return decision.change.outcome if isinstance(decision, Apply) else decision.outcome


def _outcome(outcome: Outcome) -> dict[str, Any]:
    found = {"ERROR_CODE": outcome.code, "REASON": outcome.reason, "DETAIL": outcome.detail}
    return {"STATE": outcome.state.value, **{key: value for key, value in found.items() if value}}


def _problem(error: MessageError, effect: str = "the message is DEAD") -> dict[str, Any]:
    found = {
        "LINE": error.line,
        "COLUMN": error.column,
        "REASON": error.reason,
        "RECORD": None if error.record is None else error.record + 1,
        "FLID": error.flid,
        "TAG": error.tag,
        "TEXT": error.text,
        "EFFECT": effect,
    }
    return {key: value for key, value in found.items() if value is not None}


def _dropped(message: DecodedMessage, policy: Policy) -> Iterator[BadValue]:
    """Bad optional values of complete records and of an ADFT (D-14); the first of many."""
    if message.kind not in (MsgKind.SCHEDULE, MsgKind.ADFT):
        return
    left = _MOST_PROBLEMS
    for index, record in enumerate(_records(message)):
        flid = parse_flid(record.flid or "") or 0
        for bad in read_record(record, flid, index=index, max_points=policy.route_max_points).dropped:
            yield bad
            left -= 1
            if not left:
                return


def _located(bad: BadValue, codec: Codec, raw: bytes) -> dict[str, Any]:
    error = Malformed(bad.reason, flid=bad.flid, tag=bad.tag, text=bad.text, record=bad.record)
    codec.locate(raw, error)
    return _problem(error, "taken as absent")
