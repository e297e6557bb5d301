"""Gates, stands, desks and belts: what is in use and what is not, now or at a time (D-40)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from litestar import Response

from msgx_app.answers.documents import resource_rows
from msgx_app.answers.times import parse_instant
from msgx_app.http.console.desk import GivenConsole, page_of, shows
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest
from msgx_core.model.sis import MAX_KEY_CHARS, RSTA, RSTA_TYPES
from msgx_core.ports.operations import Row

ENTRY = Entry("resources", "/console/resources", "data")
TYPES: Final = tuple(sorted(RSTA_TYPES))
USES: Final = ("available", "closed")


@shows("/console/resources")
async def resources(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Those with a stored status; all others are available."""
    query = Query.of(request)
    rtyp, use, at = query.choice("type", TYPES), query.choice("use", USES), query.text("at", 40)
    after = query.exact("after", MAX_KEY_CHARS)

    def make(desk: Desk) -> dict[str, Any]:
        now = desk.clock.now()
        instant = now if at is None else parse_instant(at, desk.policy, now)
        everything = resource_rows(desk.store.references(RSTA), desk.policy, instant)
        wanted = [row for row in everything if _fits(row, rtyp, use)]
        page = page_of(
            query.here,
            after,
            lambda n: [row for row in wanted if after is None or key_of(row) > after][:n],
            key_of,
        )
        return {
            "page": page,
            "rows": [{**row, "KEY": key_of(row), "WHY": why(row, instant)} for row in page.rows],
            "closed": sum(not row["AVAILABLE"] for row in everything),
            "known": len(everything),
            "instant": instant,
            "chosen": {"type": rtyp, "use": use, "at": at},
            "types": TYPES,
            "uses": USES,
        }

    return await console.show(request, "resources.html", make)


def key_of(row: Row) -> str:
    """The key of its record, by which they are sorted."""
    return f"{row['RTYP']}/{row['RSID']}"


def why(row: Row, at: datetime) -> str:
    """Which of the rules of availability holds: a name of `resource_why`."""
    if row["STAT"] != "D":
        return "enabled"
    if row["STARTS_AT"] is not None and at < row["STARTS_AT"]:
        return "later"
    if row["ENDS_AT"] is None:
        return "closed"
    return "over" if at >= row["ENDS_AT"] else "until"


def _fits(row: Row, rtyp: str | None, use: str | None) -> bool:
    return (rtyp is None or row["RTYP"] == rtyp) and (use is None or row["AVAILABLE"] == (use == USES[0]))
