"""What a person must look at, by kind of alert, each with its cause and remedy; acknowledging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litestar import Response

from msgx_app.answers.situations import by_code, open_alerts
from msgx_app.http.console.desk import GivenConsole, page_of, shows, takes
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_core.ports.operations import Row

ENTRY = Entry("alerts", "/console/alerts", "now", badge="alerts")


@shows("/console/alerts")
async def alerts(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Open ones, or all."""
    query = Query.of(request)
    after, everything = query.id("after"), query.has("all")

    def make(desk: Desk) -> dict[str, Any]:
        page = page_of(
            query.here,
            after,
            lambda n: desk.store.alerts(everything, n, after),
            lambda row: row["ALERT_ID"],
        )
        counts = {code: n for code, n, _ in by_code(open_alerts(desk))}
        return {"page": page, "everything": everything, "groups": _grouped(page.rows), "counts": counts}

    return await console.show(request, "alerts.html", make)


@takes("/console/alerts/ack")
async def acknowledge(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """A person took note."""
    form = await console.form(request)
    ids, who = form.ids(), audit_of(request, form.reason())
    return await console.act(
        request,
        lambda desk: desk.store.acknowledge(ids, who, desk.clock.now()),
        done="ack",
        back="/console/alerts",
    )


def _grouped(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["CODE"], []).append(row)
    return found
