"""What waits for a person: write-backs, events, alerts; what people did; requests to the AODB."""

from __future__ import annotations

import re
from typing import Annotated

from litestar import Response
from litestar.params import FromQuery, JSONBody, QueryParameter

from msgx_app.answers.documents import category_of, request_row
from msgx_app.answers.requests import asked, reference_request, schedule_request
from msgx_app.http.office import Desk
from msgx_app.http.parameters import AfterId, Ask, EventTargets, Limit, MaybeAll, Targets, Topic
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, GivenOffice, acts, audit_of, page, reads, reply, results
from msgx_core.model.events import EventStatus, Target
from msgx_core.ports.operations import EventPlace

AfterEvent = Annotated[
    str | None,
    QueryParameter(pattern=r"^-?\d{1,18}(-(msg|schd))?$", description="Go on behind this event: 17-msg."),
]


@reads("/writeback", "Message", many=True)
async def list_writebacks(
    request: AnyRequest,
    office: GivenOffice,
    abandoned: FromQuery[bool] = False,
    after: AfterId = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """Finished messages whose mark in the mailbox is owed, or (`abandoned`) was given up."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.writebacks(abandoned, n, after),
        lambda row: row["MSG_ID"],
    )


@acts("/writeback/resume", "Result", many=True)
async def resume_writebacks(
    request: AnyRequest, office: GivenOffice, data: JSONBody[MaybeAll]
) -> Response[bytes]:
    """Abandoned write-backs are due once more (D-38): `ids`, or `all` of them."""
    if data.all == (data.ids is not None):
        raise Problem(422, "give ids or all")
    who = audit_of(request, data.reason)
    return await results(
        office, "MSG_ID", lambda desk: desk.store.resume_writebacks(data.ids, who, desk.clock.now())
    )


@reads("/outbox", "Event", many=True)
async def list_events(
    request: AnyRequest,
    office: GivenOffice,
    status: FromQuery[EventStatus | None] = None,
    target: FromQuery[Topic | None] = None,
    after: AfterEvent = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """Events and their delivery by `EVENT_ID`, sent ones too as long as they are kept."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.events(
            None if status is None else status.value,
            None if target is None else target.target.value,
            n,
            _place(after),
        ),
        lambda row: f"{row['EVENT_ID']}-{Target(row['TARGET']).name.lower()}",
    )


@acts("/outbox/requeue", "Result", many=True)
async def requeue_events(
    request: AnyRequest, office: GivenOffice, data: JSONBody[EventTargets]
) -> Response[bytes]:
    """Dead events are sent again, with their attempts counted from zero."""
    who = audit_of(request, data.reason)
    target = None if data.target is None else data.target.target
    return await results(
        office, "EVENT_ID", lambda desk: desk.store.requeue_events(data.ids, who, desk.clock.now(), target)
    )


@acts("/outbox/discard", "Result", many=True)
async def discard_events(
    request: AnyRequest, office: GivenOffice, data: JSONBody[EventTargets]
) -> Response[bytes]:
    """Dead events are laid aside for good: a person took note."""
    who = audit_of(request, data.reason)
    target = None if data.target is None else data.target.target
    return await results(
        office, "EVENT_ID", lambda desk: desk.store.discard_events(data.ids, who, desk.clock.now(), target)
    )


@reads("/alerts", "Alert", many=True)
async def list_alerts(
    request: AnyRequest,
    office: GivenOffice,
    all_: Annotated[bool, QueryParameter(name="all", description="Acknowledged ones too.")] = False,
    after: AfterId = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """What a person must look at, by id."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.alerts(all_, n, after),
        lambda row: row["ALERT_ID"],
    )


@acts("/alerts/ack", "Result", many=True)
async def acknowledge_alerts(
    request: AnyRequest, office: GivenOffice, data: JSONBody[Targets]
) -> Response[bytes]:
    """Close alerts: a person took note."""
    who = audit_of(request, data.reason)
    return await results(
        office, "ALERT_ID", lambda desk: desk.store.acknowledge(data.ids, who, desk.clock.now())
    )


@reads("/audit", "Audit", many=True)
async def list_audit(
    request: AnyRequest, office: GivenOffice, after: AfterId = None, limit: Limit = 100
) -> Response[bytes]:
    """What people did, and why; newest first."""
    return await page(
        office, request, limit, lambda desk, n: desk.store.audit(n, after), lambda row: row["AUDIT_ID"]
    )


@reads("/requests", "Request", many=True)
async def list_requests(
    request: AnyRequest, office: GivenOffice, after: AfterId = None, limit: Limit = 100
) -> Response[bytes]:
    """Requests to the AODB and what became of each, newest first."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.requests(n, after),
        lambda each: each.request_id,
        lambda each, desk: request_row(each),
    )


@acts("/requests", "Request", status=201)
async def ask_upstream(request: AnyRequest, office: GivenOffice, data: JSONBody[Ask]) -> Response[bytes]:
    """Ask the AODB for the schedule of whole days, or for one category of reference data (D-32)."""
    if (data.schedule is None) == (data.ref is None):
        raise Problem(422, "give schedule or ref")
    who = audit_of(request, data.reason)

    def ask(desk: Desk) -> dict[str, object]:
        if data.schedule is not None:
            wanted = schedule_request(data.schedule, desk, confirmed=data.yes, how='"yes": true')
        else:
            wanted = reference_request(category_of(data.ref or ""), desk)
        return request_row(asked(wanted, desk, who))

    return await reply(office, ask, status=201)


def _place(after: str | None) -> EventPlace | None:
    """`17-msg` as a place; `17` is behind the events 17 of both topics."""
    match = None if after is None else re.fullmatch(r"(-?\d+)(?:-(\w+))?", after)
    if match is None:
        return None
    topics = [target.value for target in Target]
    return int(match[1]), Target[match[2].upper()].value if match[2] else max(topics)
