"""`msgx status`: what an operator at night needs first."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgx_app.cli import output
from msgx_app.cli.errors import Exiting
from msgx_app.cli.options import Common, command
from msgx_app.cli.requests import request_row
from msgx_app.cli.times import age_text
from msgx_core.errors import MsgxError
from msgx_core.model.request import RequestSlot

if TYPE_CHECKING:
    from msgx_app.cli.services import Asked
    from msgx_core.model.proc import ProcRow
    from msgx_core.ports import Inbox, LeaseView, Store
    from msgx_core.ports.operations import Counts

_SCANNED = 1000


@command("msgx status", "msgx status --json")
def status(common: Common) -> None:
    """Head and its age, counts, write-back, outbox, requests, alerts, lease, and each service's health.

    Prints what is known also when a service does not answer, names it, and exits with 4.
    """
    from msgx_app import backends
    from msgx_app.cli.services import ask_all

    settings = common.load().settings
    clock = backends.system_clock()
    with ExitStack() as opened:
        asked = ask_all(settings, clock, opened)
        found = gather(asked, clock.now())
    if common.as_json:
        output.print_json(found)
    else:
        print_status(found)
    if asked.exit_code:
        raise Exiting(asked.exit_code)


def gather(asked: Asked, now: datetime) -> dict[str, Any]:
    """Everything that the services that answer can tell."""
    found: dict[str, Any] = {"AT": now}
    if asked.store is not None:
        store = asked.store
        counts = store.counts()
        found |= {"HEAD": _head(store.head(), now), **_counts(counts, now), "LEASE": _lease(store.lease())}
        found["REQUESTS"]["SLOTS"] = _open_requests(store)
        found["OUTAGES"] = _outages(store)
        if asked.inbox is not None:
            found["MAILBOX"] = _mailbox(asked.inbox, store)
    found["SERVICES"] = [answer.row for answer in asked.answers]
    return found


def _head(head: ProcRow | None, now: datetime) -> dict[str, Any] | None:
    if head is None:
        return None
    return {
        "MSG_ID": head.msg_id,
        "STATE": head.state,
        "ATTEMPTS": head.attempts,
        "AGE_S": round((now - head.enqueued_at).total_seconds(), 3),
        "ENQUEUED_AT": head.enqueued_at,
        "NEXT_ATTEMPT_AT": head.next_attempt_at,
        "ERROR_CODE": head.code,
        "REASON": head.reason,
        "DETAIL": head.detail,
    }


def _counts(counts: Counts, now: datetime) -> dict[str, Any]:
    outbox = {target: dict(statuses) for target, statuses in counts.events.items()}
    oldest = {
        target: {"AT": at, "AGE_S": round((now - at).total_seconds(), 3)}
        for target, at in counts.oldest_event_at.items()
    }
    return {
        "MESSAGES": dict(counts.messages),
        "ERROR_CODES": dict(counts.codes),
        "FLIGHTS": dict(counts.flights),
        "WRITEBACK": {"PENDING": counts.writeback_pending, "ABANDONED": counts.writeback_abandoned},
        "OUTBOX": outbox,
        "OLDEST_UNSENT": oldest,
        "REQUESTS": {"OPEN": counts.requests_open},
        "ALERTS": {"OPEN": counts.alerts_open},
    }


def _open_requests(store: Store) -> list[dict[str, Any]]:
    """The open request of each slot."""
    return [request_row(each) for slot in RequestSlot if (each := store.open_request(slot)) is not None]


def _outages(store: Store) -> list[dict[str, Any]]:
    """Outages that nobody has acknowledged: a service may answer a question and still refuse all work."""
    alerts = store.alerts(limit=_SCANNED)
    return [{"SINCE": a["CREATED_AT"], "DETAIL": a.get("DETAIL")} for a in alerts if a["CODE"] == "OUTAGE"]


def _lease(view: LeaseView) -> dict[str, Any]:
    return {
        "HOLDER": view.holder,
        "HELD": view.holder is not None and view.expires_in_s > 0,
        "EPOCH": view.epoch,
        "EXPIRES_IN_S": None if view.holder is None else round(view.expires_in_s, 3),
    }


def _mailbox(inbox: Inbox, store: Store) -> dict[str, Any] | None:
    """How many of the first unmarked rows have not been taken in; `AT_LEAST` when there are further rows."""
    try:
        ids = inbox.scan(-(2**63), _SCANNED)
        return {"NOT_TAKEN_IN": len(store.unknown(ids)), "AT_LEAST": len(ids) == _SCANNED}
    except MsgxError:
        return None  # it answered a moment ago; the next status tells


def print_status(found: dict[str, Any]) -> None:
    """The same for people."""
    if "MESSAGES" in found:
        output.print_facts(_facts(found), title="msgx")
    output.print_rows(found["SERVICES"], ("SERVICE", "OK", "URL", "ERROR"), empty="")
    for outage in found.get("OUTAGES", ()):
        output.note(f"outage at {output.people(outage['SINCE'])}, not acknowledged: {outage['DETAIL']}")
    for row in found["SERVICES"]:
        if not row["OK"]:
            output.note(f"the {row['SERVICE']} cannot be used: {row['ERROR']}")


def _facts(found: dict[str, Any]) -> list[tuple[str, Any]]:
    lease = found["LEASE"]
    held = f"{lease['HOLDER']} (epoch {lease['EPOCH']}, for {lease['EXPIRES_IN_S']} s)"
    mailbox = found.get("MAILBOX")
    more = "+" if mailbox and mailbox["AT_LEAST"] else ""
    return [
        ("head", _head_text(found["HEAD"])),
        ("messages", _pairs(found["MESSAGES"])),
        ("dead or failed by code", _pairs(found["ERROR_CODES"])),
        ("in the mailbox, not taken in", f"{mailbox['NOT_TAKEN_IN']}{more}" if mailbox else None),
        ("flights", _pairs(found["FLIGHTS"])),
        ("write-back", _pairs(found["WRITEBACK"])),
        *((f"outbox {target}", _pairs(each)) for target, each in found["OUTBOX"].items()),
        *((f"oldest unsent {t}", age_text(each["AGE_S"])) for t, each in found["OLDEST_UNSENT"].items()),
        ("requests open", _requests_text(found["REQUESTS"]["SLOTS"])),
        ("alerts open", found["ALERTS"]["OPEN"]),
        ("lease", held if lease["HELD"] else "free"),
    ]


def _head_text(head: dict[str, Any] | None) -> str:
    if head is None:
        return "nothing waits"
    text = f"message {head['MSG_ID']} {head['STATE'].value}, taken in {age_text(head['AGE_S'])} ago"
    if head["ATTEMPTS"]:
        why = " ".join(str(head[key]) for key in ("ERROR_CODE", "REASON") if head[key])
        text += f", {head['ATTEMPTS']} attempts, {why}, next {output.people(head['NEXT_ATTEMPT_AT'])}"
    return text


def _requests_text(open_: list[dict[str, Any]]) -> str:
    texts = []
    for row in open_:
        since = output.people(row["SENT_AT"] or row["CREATED_AT"])
        texts.append(
            f"{row['REQUEST_ID']} {row['SLOT'].value} {row['ASKS_FOR']} {row['STATE'].value} {since}"
        )
    return "; ".join(texts) or "none"


def _pairs(counts: dict[str, int]) -> str:
    return "  ".join(f"{name} {n}" for name, n in sorted(counts.items())) or "none"
