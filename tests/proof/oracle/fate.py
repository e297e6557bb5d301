"""How a message must end and what it does on the way: from what the test sent, not from a codec (D-25)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from attrs import define, field

from msgx_core.model.message import MsgKind, Node
from msgx_core.model.sis import CATEGORIES, FLOP_ROWS, RSTA, Whitelist
from msgx_core.testing.wire import WireMessage
from tests.proof.oracle.types import Deed, Wrong

if TYPE_CHECKING:
    from tests.proof.oracle.books import Oracle
    from tests.proof.oracle.messages import Message

LATE_WINDOW = timedelta(hours=24)
_ORDER = [Whitelist.BASELINE, Whitelist.ALL, Whitelist.EXTENDED]
_FULL_LISTS = ("DNLD", "RESP")


@define
class Fate:
    """State, code and reason; what is done, if anything; which request it answers or refuses."""

    state: str
    code: str | None = None
    reason: str | None = None
    deed: Deed | None = None
    reference: tuple[str, dict[str, Node] | None, dict[str, Node], set[str]] | None = None
    answers: int | None = None
    refuses: int | None = None
    alerts: list[str] = field(factory=list)

    @property
    def applies(self) -> bool:
        """Whether it goes through the three steps (D-01)."""
        return self.state == "SUCCEEDED"


def dead(code: str | None, reason: str | None, *alerts: str) -> Fate:
    """Wrong in itself: nothing of it is written (INV-4)."""
    return Fate("DEAD", code, reason, alerts=list(alerts))


def skipped(reason: str, *alerts: str) -> Fate:
    """Passed over."""
    return Fate("SKIPPED", None, reason, alerts=list(alerts))


def fate_of(oracle: Oracle, message: Message, now: datetime) -> Fate:
    """In this order: is there a text, can it be read, is it new, is it ours, is it right (IMP §5.2)."""
    sent = message.sent
    if sent is None or not oracle.has_text(message):
        return dead("MALFORMED", "raw-missing")
    if sent.fault is not None and sent.fault.undecodable:
        return dead(sent.fault.code, sent.fault.reason)
    holder = oracle.holder_of(message)
    if holder is not None:
        other = ["DUPLICATE_DIFFERENT_CONTENT"] * (holder.digest != sent.raw)
        return skipped(f"duplicate-of:{holder.msg_id}", *other)
    match sent.kind:
        case MsgKind.SCHEDULE:
            return _schedule(oracle, message, sent, now)
        case MsgKind.ADFT | MsgKind.FLOP | MsgKind.FDEL:
            return _single(oracle, message, sent, now)
        case MsgKind.REFERENCE | MsgKind.RESOURCE_STATUS:
            return _reference(oracle, sent)
        case MsgKind.ERROR_ANSWER:
            return _error(oracle, sent)
        case _:
            return skipped("unsupported")


def is_let_in(styp: str, whitelist: str) -> bool:
    """D-18: `baseline` is part of `all`, `all` of `extended`."""
    row = FLOP_ROWS.get(styp)
    return row is not None and _ORDER.index(row.whitelist) <= _ORDER.index(Whitelist(whitelist))


def _broken(sent: WireMessage) -> Fate | None:
    fault = sent.fault
    return None if fault is None or fault.code is None else dead(fault.code, fault.reason)


def _schedule(oracle: Oracle, message: Message, sent: WireMessage, now: datetime) -> Fate:
    broken = _broken(sent)
    if broken is not None and broken.code == "MALFORMED":
        return broken
    days: Iterable[date] | None = None
    answered: int | None = None
    late = False
    if sent.styp == "RESP":
        open_ = next((r for r in oracle.requests.values() if r.slot == "RQFD" and r.is_free), None)
        if open_ is None:
            return skipped("unmatched-response")
        late = any(r.may_be_answered_instead_of(open_, now, LATE_WINDOW) for r in oracle.requests.values())
        if not late:
            days, answered = open_.days, open_.request_id
    if broken is not None and not (broken.reason or "").startswith("collection-"):
        return broken
    try:
        oracle.airport.covered(sent, days)
        if broken is not None:
            return broken
        deed = oracle.airport.schedule(sent, days, message.msg_id, now)
    except Wrong as wrong:
        return dead("PROTOCOL", str(wrong), *_alert_of(wrong))
    alerts = [*deed.alerts, *["AMBIGUOUS_ANSWER"] * late, *oracle.sender_flags(sent)]
    return Fate("SUCCEEDED", deed=deed, answers=answered, alerts=alerts)


def _single(oracle: Oracle, message: Message, sent: WireMessage, now: datetime) -> Fate:
    if sent.kind is MsgKind.FLOP and not is_let_in(sent.styp, oracle.choices.whitelist):
        return skipped("unsupported")
    broken = _broken(sent)
    if broken is not None:
        return broken
    try:
        if sent.kind is MsgKind.ADFT:
            deed: Deed | str = oracle.airport.adft(sent, message.msg_id, now)
        elif sent.kind is MsgKind.FLOP:
            deed = oracle.airport.flop(sent, message.msg_id, now)
        else:
            deed = oracle.airport.fdel(sent, message.msg_id, now)
    except Wrong as wrong:
        return dead("PROTOCOL", str(wrong), *_alert_of(wrong))
    if isinstance(deed, str):
        return skipped(deed)
    return Fate("SUCCEEDED", reason=deed.reason, deed=deed, alerts=list(deed.alerts))


def _alert_of(wrong: Wrong) -> list[str]:
    alerting = {
        "SAME_FLID_ACROSS_OPERATION_DAYS": "SAME_FLID_ACROSS_OPERATION_DAYS",
        "roster-day-mismatch": "ROSTER_DAY_MISMATCH",
    }
    return [code for start, code in alerting.items() if str(wrong).startswith(start)]


def _reference(oracle: Oracle, sent: WireMessage) -> Fate:
    """D-40, R-425: a full list replaces, the others put or remove; a status overwrites its resource."""
    broken = _broken(sent)
    if broken is not None:
        return broken
    answered = None
    if sent.styp == "RESP":
        asked = (
            r for r in oracle.requests.values() if r.slot == "RQRD" and r.rtype == sent.type and r.is_free
        )
        answered = next((r.request_id for r in asked), None)
    keyed = {_key(sent.type, record): record for record in sent.records}
    whole = keyed if sent.type != RSTA and sent.styp in _FULL_LISTS else None
    if sent.styp == "DEL":
        return Fate("SUCCEEDED", reference=(sent.type, None, {}, set(keyed)), answers=answered)
    return Fate("SUCCEEDED", reference=(sent.type, whole, keyed, set()), answers=answered)


def _key(rtype: str, record: Node) -> str:
    if rtype == RSTA:
        return f"{record.value('RTYP')}/{record.value('RSID')}"
    return record.value(CATEGORIES[rtype].key) or ""


def _error(oracle: Oracle, sent: WireMessage) -> Fate:
    """D-32: the slot that it names, else the only open one; two open and none named: neither."""
    open_ = [r for r in oracle.requests.values() if r.is_open]
    if not open_:
        return skipped("no-open-request", "EROR")
    named = {sent.answer.get("ETYP"), sent.answer.get("ESTP")}
    slot = None
    if named & {"RQFD", "SCHD"}:
        slot = "RQFD"
    elif named & {"RQRD", RSTA, *CATEGORIES}:
        slot = "RQRD"
    elif len(open_) > 1:
        return skipped("ambiguous-error", "EROR")
    meant = [r for r in open_ if slot in (None, r.slot)]
    if not meant:
        return skipped("no-open-request", "EROR")
    return Fate("SUCCEEDED", refuses=meant[0].request_id, alerts=["EROR"])
