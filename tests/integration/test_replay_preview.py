"""The dry run of a replay says what the replay will do, and does nothing."""

from __future__ import annotations

import sqlite3

from msgx_cli import Msgx, put
from wire import fltr, schedule


def test_a_dry_run_asks_for_the_identity_too(msgx: Msgx) -> None:
    """D-23, D-24, D-36: what will be a duplicate is one in the dry run, which binds nothing."""
    same = schedule("DNLD", [fltr(1)])
    other = same.replace(b"QX1", b"QX2")
    ids = put(msgx, same, same, other)
    msgx.ok("drain")
    with sqlite3.connect(msgx.folder / "data" / "mailbox.db") as mailbox:
        mailbox.execute("DELETE FROM CMINMSGS WHERE CMINMSGS_ID > ?", (ids[0],))
    mailbox.close()
    with sqlite3.connect(msgx.folder / "data" / "store.db") as store:
        for n in ids[1:]:
            store.execute(
                "UPDATE PROC_STATE SET STATE = 'DEAD', ERROR_CODE = 'MALFORMED', REASON = 'raw-missing'"
                " WHERE MSG_ID = ?",
                (n,),
            )
    store.close()
    before = msgx.ok("messages", "--json").json
    previews = msgx.ok("replay", *ids[1:], "--from-archive", "--dry-run", "--json").json
    assert [(row["STATE"], row["REASON"]) for row in previews] == [("SKIPPED", f"duplicate-of:{ids[0]}")] * 2
    assert previews[1]["ALERTS"][0]["CODE"] == "DUPLICATE_DIFFERENT_CONTENT"
    assert msgx.ok("messages", "--json").json == before
    msgx.ok("replay", *ids[1:], "--from-archive", "--reason", "cleaned too early")
    msgx("drain")
    for msg_id, preview in zip(ids[1:], previews, strict=True):
        real = msgx.ok("messages", "show", msg_id, "--json").json
        assert (real["STATE"], real["REASON"]) == (preview["STATE"], preview["REASON"])
