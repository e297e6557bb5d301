"""What the AODB was asked for and what became of it; asking it for days of the schedule or a list (D-32)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from litestar import Response

from msgx_app.answers.documents import category_of, request_row
from msgx_app.answers.parts import WithStore
from msgx_app.answers.requests import asked, reference_request, schedule_request
from msgx_app.http.console.desk import GivenConsole, go, page_of, shows, takes, with_query
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.ports.operations import Audit, Row, Views

ENTRY = Entry("requests", "/console/requests", "work", badge="requests")
ASKING: Final = ("create_request", "ask_request")
"""Actions of the audit whose target is a request."""

AUDIT_SCANNED: Final = 2000
MAX_DAY_CHARS: Final = 20


@shows("/console/requests")
async def requests(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Both slots and all requests, newest first; `day` and `ref` fill the forms in."""
    query = Query.of(request)
    after, day, ref = query.id("after"), query.text("day", MAX_DAY_CHARS), query.choice("ref", _LISTS)

    def make(desk: Desk) -> dict[str, Any]:
        store = desk.store
        page = page_of(query.here, after, lambda n: store.requests(n, after), lambda each: each.request_id)
        open_ = {slot: store.open_request(slot) for slot in (RequestSlot.RQFD, RequestSlot.RQRD)}
        by = _askers(store)
        return {
            "page": page,
            "rows": [_row(each, by) for each in page.rows],
            "slots": {slot.value: None if one is None else _row(one, by) for slot, one in open_.items()},
            "timeout": desk.settings.requests.timeout,
            "writes": desk.settings.mailbox.write_enabled,
            "chosen": {"day": day, "ref": ref},
            "lists": _LISTS,
        }

    return await console.show(request, "requests.html", make)


@takes("/console/requests/schedule")
async def ask_schedule(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Ask for days: `first`, or from there to `last`."""
    form = await console.form(request)
    first, last = form.one("first").strip(), form.one("last").strip()
    if not first:
        raise Problem(422, "first: say which day")
    if max(len(first), len(last)) > MAX_DAY_CHARS:
        raise Problem(422, f"first, last: at most {MAX_DAY_CHARS} characters")
    days = f"{first}..{last}" if last else first
    how = "on the command line with --yes"
    return await _ask(request, console, form.reason(), lambda desk: schedule_request(days, desk, how=how))


@takes("/console/requests/reference")
async def ask_reference(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Ask for all records of a category."""
    form = await console.form(request)
    category = category_of(form.one("ref")[:MAX_DAY_CHARS])
    return await _ask(request, console, form.reason(), lambda desk: reference_request(category, desk))


async def _ask(
    request: AnyRequest, console: GivenConsole, reason: str, wanted: Callable[[WithStore], Request]
) -> Response[bytes]:
    who: Audit = audit_of(request, reason)
    await console.office.work(lambda desk: asked(wanted(desk), desk, who))
    return go(with_query("/console/requests", done="request"))


_LISTS: Final = (*CATEGORIES, RSTA)


def _askers(store: Views) -> dict[int, Row]:
    """Of the last actions those that asked, by request."""
    return {row["TARGET"]: row for row in store.audit(AUDIT_SCANNED) if row["ACTION"] in ASKING}


def _row(each: Request, by: dict[int, Row]) -> dict[str, Any]:
    plain = {"SLOT": each.slot.value, "STATE": each.state.value}
    return {**request_row(each), **plain, "BY": by.get(each.request_id)}
