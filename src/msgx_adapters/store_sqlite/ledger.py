"""Rosters and their generations inside a running ① (D-11)."""

from __future__ import annotations

from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.session import SQL
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.errors import Conflict
from msgx_core.model.change import Change


def write(db: Connection, change: Change, epoch: int) -> None:
    """Replace the covered rosters, then take flights off rosters, then put flights on theirs.

    Old members of all covered days go first, so that a flight may move between them.
    """
    for roster in change.rosters:
        values = {
            "day": roster.day.isoformat(),
            "read_version": roster.read_version,
            "msg_id": change.msg_id,
            "now": stamp(change.at),
            "epoch": epoch,
        }
        statement = "next_generation" if roster.read_version else "first_generation"
        if not db.run(SQL[statement], values):
            raise Conflict(f"the roster of {roster.day} is not at generation {roster.read_version}")
        db.run(SQL["clear_roster"], values)
    for roster in change.rosters:
        day = roster.day.isoformat()
        db.run_many(SQL["roster_add"], [{"day": day, "flid": flid} for flid in sorted(roster.flids)])
    if change.roster_remove:
        db.run(SQL["roster_remove"], {"flids": dump_list(sorted(change.roster_remove))})
    if change.roster_add:
        added = [{"day": day.isoformat(), "flid": flid} for flid, day in change.roster_add.items()]
        db.run_many(SQL["roster_add"], added)
