"""Reference data and resources; the schedule log and rosters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from litestar import Response
from litestar.params import FromQuery, PathParameter, QueryParameter

from msgx_app.answers.documents import reference_row, resource_rows, roster_row
from msgx_app.answers.times import parse_day, parse_instant
from msgx_app.http.office import Desk
from msgx_app.http.parameters import AfterId, Limit
from msgx_app.http.replies import AnyRequest, GivenOffice, page, reads, reply
from msgx_app.refusals import Missing
from msgx_core.model.schedule import SnapshotFlag
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.ports.operations import Row
from msgx_core.rules.operation_day import day_bounds

Category = Annotated[
    str,
    PathParameter(
        pattern=rf"^({'|'.join((*CATEGORIES, RSTA))})$", description="A category such as ARPT, or RSTA."
    ),
]
Key = Annotated[str, PathParameter(max_length=64, description="The record's key.")]
Day = Annotated[str | None, QueryParameter(max_length=10, description="YYYY-MM-DD or today.")]
_NO_NUL = r"^[^\x00]*$"  # which no text of a database may have
AfterKey = Annotated[
    str | None, QueryParameter(max_length=64, pattern=_NO_NUL, description="Go on behind this key.")
]
Find = Annotated[
    str | None,
    QueryParameter(max_length=100, pattern=_NO_NUL, description="Only records with this text somewhere."),
]
At = Annotated[
    str | None, QueryParameter(max_length=40, description="2027-03-14T06:00 or 14MAR270600; default: now.")
]


@reads("/reference/{rtype:str}", "Reference", many=True)
async def list_reference(
    request: AnyRequest,
    office: GivenOffice,
    rtype: Category,
    after: AfterKey = None,
    find: Find = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """Records of a category by key, each whole, as it was sent."""
    return await page(
        office,
        request,
        limit,
        lambda desk, n: desk.store.reference_page(rtype, n, after, find),
        lambda record: record.rkey,
        lambda record, desk: reference_row(record),
    )


@reads("/reference/{rtype:str}/{key:str}", "Reference")
async def show_reference(office: GivenOffice, rtype: Category, key: Key) -> Response[bytes]:
    """One record."""

    def find(desk: Desk) -> dict[str, object]:
        found = desk.store.references(rtype, key)
        if not found:
            raise Missing(f"{rtype} has no record {key}")
        return reference_row(found[0])

    return await reply(office, find)


@reads("/resources", "Resource", many=True)
async def list_resources(office: GivenOffice, at: At = None) -> Response[bytes]:
    """Gates, stands, desks and belts with a stored status, then; all others are available (D-40)."""

    def find(desk: Desk) -> list[dict[str, object]]:
        now = desk.clock.now()
        instant = now if at is None else parse_instant(at, desk.policy, now)
        return resource_rows(desk.store.references(RSTA), desk.policy, instant)

    return await reply(office, find)


@reads("/snapshots", "Snapshot", many=True)
async def list_snapshots(
    request: AnyRequest,
    office: GivenOffice,
    day: Day = None,
    flag: FromQuery[SnapshotFlag | None] = None,
    after: AfterId = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """The schedule log, newest first; what covers something of an operation day, or what has a flag."""

    def fetch(desk: Desk, n: int) -> Sequence[Row]:
        between = None
        if day is not None:
            between = day_bounds(parse_day(day, desk.policy, desk.clock.now()), desk.policy)
        return desk.store.snapshots(n, after, between=between, flag=None if flag is None else flag.value)

    return await page(office, request, limit, fetch, lambda row: row["LOG_ID"])


@reads("/rosters", "Roster", many=True)
async def list_rosters(office: GivenOffice, day: Day = None) -> Response[bytes]:
    """Each operation day's roster and its generation."""

    def find(desk: Desk) -> list[dict[str, object]]:
        wanted = None if day is None else parse_day(day, desk.policy, desk.clock.now())
        return [roster_row(each) for each in desk.store.rosters(wanted)]

    return await reply(office, find)
