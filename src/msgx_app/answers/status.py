"""How msgx is, as data: what an operator at night needs first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgx_app.answers.documents import request_row
from msgx_app.answers.operations import job_row, outage_alerts, outage_row, outages_met
from msgx_app.answers.services import Answer, Asked
from msgx_core.errors import MsgxError
from msgx_core.model.outage import Outage
from msgx_core.model.proc import ProcRow
from msgx_core.model.request import RequestSlot
from msgx_core.ports import Inbox, LeaseView, Store
from msgx_core.ports.operations import Counts

_SCANNED = 1000


def gather(asked: Asked, now: datetime) -> dict[str, Any]:
    """Everything that the services that answer can tell."""
    found: dict[str, Any] = {"AT": now}
    met: Mapping[str, Outage] = {}
    if asked.store is not None:
        store = asked.store
        counts, lease = store.counts(), store.lease()
        found |= {"HEAD": _head(store.head(), now), **_counts(counts, now), "LEASE": _lease(lease)}
        found["REQUESTS"]["SLOTS"] = _open_requests(store)
        jobs = [job_row(job, lambda: lease) for job in store.open_jobs()]
        found["JOBS"] = {"OPEN": len(jobs), "LIST": jobs}
        found["OUTAGES"] = outage_alerts(store)
        met = outages_met(store, lease)
        if asked.inbox is not None:
            found["MAILBOX"] = _mailbox(asked.inbox, store)
    found["SERVICES"] = _services(asked.answers, met)
    return found


def _services(answers: Sequence[Answer], met: Mapping[str, Outage]) -> list[dict[str, Any]]:
    """What each says when it is asked here, and since when the instance at work cannot use it."""
    rows = {answer.service: answer.row for answer in answers}
    for service, outage in met.items():
        row = rows.get(service, {"SERVICE": service})
        rows[service] = {**row, "OK": False, "OUTAGE": outage_row(outage)}
    return list(rows.values())


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
