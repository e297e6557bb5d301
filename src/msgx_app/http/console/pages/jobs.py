"""Outages, work left to the active instance (D-34), and what people did."""

from __future__ import annotations

from typing import Any

from litestar import Response

from msgx_app.answers.operations import job_row, outages_met
from msgx_app.http.console.desk import GivenConsole, go, page_of, shows, takes, with_query
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_core.model.job import JobKind

ENTRY = Entry("jobs", "/console/jobs", "work", badge="jobs")
AUDIT_SHOWN = 30


@shows("/console/jobs")
async def jobs(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """All of it, newest first."""
    query = Query.of(request)
    after = query.id("after")

    def make(desk: Desk) -> dict[str, Any]:
        store = desk.store
        lease = store.lease()
        page = page_of(query.here, after, lambda n: store.jobs(n, after), lambda job: job.job_id)
        return {
            "page": page,
            "rows": [job_row(each, lambda: lease) for each in page.rows],
            "kinds": [kind.value for kind in JobKind],
            "outages": sorted(store.outages(), key=lambda each: each.since, reverse=True),
            "met": set(outages_met(store, lease)),
            "audit": store.audit(AUDIT_SHOWN),
        }

    return await console.show(request, "jobs.html", make)


@takes("/console/jobs")
async def leave(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Leave a job; one that waits already is joined."""
    form = await console.form(request)
    kind, who = form.one("kind"), audit_of(request, form.reason())
    if kind not in {each.value for each in JobKind}:
        raise Problem(422, f"kind: one of {', '.join(each.value for each in JobKind)}")
    await console.office.work(lambda desk: desk.store.ask_job(JobKind(kind), who, desk.clock.now()))
    return go(with_query("/console/jobs", done="job"))
