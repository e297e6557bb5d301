"""`msgx snapshots`: the schedule log, and the rosters that came of it."""

from __future__ import annotations

from typing import Annotated

import typer

from msgx_app.answers.documents import roster_row
from msgx_app.cli import output
from msgx_app.cli.listing import print_list
from msgx_app.cli.options import Common, Limit, command
from msgx_app.cli.parts import with_store

COLUMNS = (
    "LOG_ID RECV_AT MSG_ID OPERATION_DAY RESULT RECS DELETED_COUNT FLAGS OLD_VERSION NEW_VERSION DURATION_MS"
).split()


@command("msgx snapshots --limit 20", "msgx snapshots --rosters --json")
def snapshots(
    common: Common,
    *,
    rosters: Annotated[
        bool, typer.Option("--rosters", help="Instead: each operation day's roster and its generation.")
    ] = False,
    limit: Limit = None,
) -> None:
    """The schedule log, newest first: what each schedule was about, and what it did."""
    with with_store(common) as at:
        if not rosters:
            print_list(common, at.store.snapshots, COLUMNS, limit=limit, empty="no schedules yet")
            return
        rows = [roster_row(each) for each in at.store.rosters()]
    if common.as_json:
        output.print_json_array(rows)
    else:
        output.print_rows(rows, ("OPERATION_DAY", "VERSION", "FLIDS"), empty="no rosters yet")
