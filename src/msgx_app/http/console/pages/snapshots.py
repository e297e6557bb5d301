"""The schedule log by operation day: what became of each package, and what was odd about it (D-16)."""

from __future__ import annotations

from typing import Any, Final

from litestar import Response

from msgx_app.answers.schedule_log import by_day, oddities, with_reasons
from msgx_app.answers.times import parse_day
from msgx_app.http.console.desk import GivenConsole, page_of, shows
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest
from msgx_core.model.schedule import SnapshotFlag
from msgx_core.rules.operation_day import day_bounds

ENTRY = Entry("snapshots", "/console/snapshots", "data")
FLAGS: Final = tuple(flag.value for flag in SnapshotFlag)


@shows("/console/snapshots")
async def snapshots(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """From the newest entry; of one day or with one flag when that is chosen."""
    query = Query.of(request)
    after, flag, day = query.id("after"), query.choice("flag", FLAGS), query.text("day", 20)

    def make(desk: Desk) -> dict[str, Any]:
        store = desk.store
        wanted = None if day is None else parse_day(day, desk.policy, desk.clock.now())
        between = None if wanted is None else day_bounds(wanted, desk.policy)
        page = page_of(
            query.here,
            after,
            lambda n: store.snapshots(n, after, between=between, flag=flag),
            lambda row: row["LOG_ID"],
        )
        rows = with_reasons(page.rows, store)
        return {
            "page": page,
            "oddities": oddities(rows),
            "days": by_day(rows, store, desk.policy, wanted),
            "chosen": {"day": wanted, "flag": flag},
            "flags": FLAGS,
        }

    return await console.show(request, "snapshots.html", make)
