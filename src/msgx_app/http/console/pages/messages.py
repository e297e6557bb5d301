"""Messages from the newest, with filters; failures in groups."""

from __future__ import annotations

from typing import Any, Final

from attrs import evolve
from litestar import Response

from msgx_app.answers.times import parse_instant
from msgx_app.http.console.desk import GivenConsole, page_of, shows
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest
from msgx_core.model.proc import MessageState
from msgx_core.ports.operations import MessageFilter

ENTRY = Entry("messages", "/console/messages", "work", badge="dead")
MAX_GROUPS: Final = 30
STATES: Final = tuple(state.value for state in MessageState)


@shows("/console/messages")
async def messages(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """The list; without a filter also the groups of failures."""
    query = Query.of(request)
    after, since = query.id("after"), query.text("since", 40)
    wanted = MessageFilter(
        state=query.choice("state", STATES),
        reason=query.text("reason"),
        type=query.text("type", 20),
        styp=query.text("styp", 20),
        flid=query.id("flid", 1),
        after=after,
        newest=True,
    )
    is_plain = since is None and wanted == MessageFilter(newest=True)

    def make(desk: Desk) -> dict[str, Any]:
        where = evolve(
            wanted,
            since=None if since is None else parse_instant(since, desk.policy, desk.clock.now()),
        )
        page = page_of(
            query.here,
            after,
            lambda n: desk.store.messages(evolve(where, limit=n)),
            lambda row: row["MSG_ID"],
        )
        groups = desk.store.failures(MAX_GROUPS) if is_plain else []
        chosen = {"wanted": wanted, "since": since, "is_plain": is_plain}
        return {**chosen, "page": page, "groups": groups, "states": STATES}

    return await console.show(request, "messages.html", make)
