"""Events on their way to the topics; those that were given up are sent again or laid aside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from litestar import Response

from msgx_app.http.console.desk import GivenConsole, page_of, shows, takes
from msgx_app.http.console.forms import Form
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.parameters import MAX_IDS
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_core.model.events import EventStatus, Target
from msgx_core.ports.operations import EventPlace, OperatorResult, Row

ENTRY = Entry("outbox", "/console/outbox", "work", badge="outbox")
STATUSES = tuple(each.value for each in EventStatus)
TOPICS = {target.name.lower(): target for target in Target}
_PLACE = re.compile(r"(-?\d{1,18})-(msg|schd)")


@shows("/console/outbox")
async def outbox(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Those of one status, by id; what waits when none is chosen."""
    query = Query.of(request)
    status = query.choice("status", STATUSES) or EventStatus.PENDING.value
    topic = query.choice("target", tuple(TOPICS))
    after = _place(query.text("after"))

    def make(desk: Desk) -> dict[str, Any]:
        target = None if topic is None else TOPICS[topic].value
        page = page_of(query.here, after, lambda n: desk.store.events(status, target, n, after), place_of)
        rows = [{**row, "PLACE": place_of(row)} for row in page.rows]
        chosen = {"status": status, "target": topic}
        return {
            "page": page,
            "rows": rows,
            "chosen": chosen,
            "statuses": STATUSES,
            "topics": tuple(TOPICS),
            "counts": desk.store.counts(),
        }

    return await console.show(request, "outbox.html", make)


@takes("/console/outbox/requeue")
async def requeue(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Dead events are sent again."""
    return await _act(request, console, discard=False)


@takes("/console/outbox/discard")
async def discard(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Dead events are laid aside for good."""
    return await _act(request, console, discard=True)


async def _act(request: AnyRequest, console: GivenConsole, *, discard: bool) -> Response[bytes]:
    form = await console.form(request)
    places, who = _places(form), audit_of(request, form.reason())

    def act(desk: Desk) -> Sequence[OperatorResult]:
        store, now = desk.store, desk.clock.now()
        do = store.discard_events if discard else store.requeue_events
        by_topic = {target: [n for n, t in places if t is target] for target in Target}
        return [one for target, ids in by_topic.items() if ids for one in do(ids, who, now, target)]

    done = "discard" if discard else "requeue"
    return await console.act(request, act, done=done, back="/console/outbox?status=DEAD")


def place_of(row: Row) -> str:
    """An event as `17-msg`: each topic counts its own ids."""
    return f"{row['EVENT_ID']}-{Target(row['TARGET']).name.lower()}"


def _places(form: Form) -> list[tuple[int, Target]]:
    found = []
    for text in form.fields.get("id", ()):
        match = _PLACE.fullmatch(text)
        if match is None:
            raise Problem(422, f"{text[:40]!r} is no event")
        found.append((int(match[1]), TOPICS[match[2]]))
    if not found:
        raise Problem(422, "nothing is chosen")
    if len(found) > MAX_IDS:
        raise Problem(422, f"at most {MAX_IDS} at once")
    return list(dict.fromkeys(found))


def _place(text: str | None) -> EventPlace | None:
    match = None if text is None else _PLACE.fullmatch(text)
    if text is not None and match is None:
        raise Problem(422, f"after: {text!r} is no event")
    return None if match is None else (int(match[1]), TOPICS[match[2]].value)
