"""Marks that the mailbox is owed, and those that were given up, which can be resumed (D-38)."""

from __future__ import annotations

from typing import Any

from litestar import Response

from msgx_app.http.console.desk import GivenConsole, page_of, shows, takes
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest, audit_of

ENTRY = Entry("writeback", "/console/writeback", "work", badge="writeback")


@shows("/console/writeback")
async def writeback(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Given up ones first: those need somebody; `owed` shows the others."""
    query = Query.of(request)
    after, owed = query.id("after"), query.has("owed")

    def make(desk: Desk) -> dict[str, Any]:
        page = page_of(
            query.here,
            after,
            lambda n: desk.store.writebacks(not owed, n, after),
            lambda row: row["MSG_ID"],
        )
        return {
            "page": page,
            "owed": owed,
            "counts": desk.store.counts(),
            "writes": desk.settings.mailbox.write_enabled,
        }

    return await console.show(request, "writeback.html", make)


@takes("/console/writeback/resume")
async def resume(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Those that are chosen, or all, are due once more."""
    form = await console.form(request)
    ids = None if form.one("all") == "1" else form.ids()
    who = audit_of(request, form.reason())
    return await console.act(
        request,
        lambda desk: desk.store.resume_writebacks(ids, who, desk.clock.now()),
        done="resume",
        back="/console/writeback",
    )
