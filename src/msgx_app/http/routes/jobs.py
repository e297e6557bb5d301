"""Work that people leave to the active instance (D-34)."""

from __future__ import annotations

from litestar import Response
from litestar.params import JSONBody
from msgspec import Struct

from msgx_app.answers.operations import job_row
from msgx_app.http.office import Desk
from msgx_app.http.parameters import AfterId, Id, Limit, ReasonText
from msgx_app.http.replies import AnyRequest, GivenOffice, acts, audit_of, page, reads, reply
from msgx_app.refusals import Missing
from msgx_core.model.job import JobKind


class JobWanted(Struct, forbid_unknown_fields=True):
    """What is to be done, and why."""

    kind: JobKind
    reason: ReasonText


@reads("/jobs", "Job", many=True)
async def list_jobs(
    request: AnyRequest, office: GivenOffice, after: AfterId = None, limit: Limit = 100
) -> Response[bytes]:
    """Jobs and what came of each, newest first."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.jobs(n, after),
        lambda each: each.job_id,
        lambda each, desk: job_row(each, desk.store.lease),
    )


@reads("/jobs/{job_id:int}", "Job")
async def show_job(office: GivenOffice, job_id: Id) -> Response[bytes]:
    """One job: how far it is, how it ended."""

    def find(desk: Desk) -> dict[str, object]:
        found = desk.store.job(job_id)
        if found is None:
            raise Missing(f"there is no job {job_id}")
        return job_row(found, desk.store.lease)

    return await reply(office, find)


@acts("/jobs", "Job", status=202)
async def leave_job(request: AnyRequest, office: GivenOffice, data: JSONBody[JobWanted]) -> Response[bytes]:
    """Leave a job to the active instance; one that waits already is joined."""
    who = audit_of(request, data.reason)

    def leave(desk: Desk) -> dict[str, object]:
        return job_row(desk.store.ask_job(data.kind, who, desk.clock.now()).job, desk.store.lease)

    return await reply(office, leave, status=202)
