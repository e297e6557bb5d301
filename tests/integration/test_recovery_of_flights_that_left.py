"""The recovery guide where flights left for the history store after the backup: docs/recovery.md."""

from __future__ import annotations

from msgx_cli import Msgx
from recovering import WHY, Consumer, done, live, plain, restored, sql, store_file
from wire import adft, flop, fltr, gate, schedule


def with_history(msgx: Msgx) -> None:
    config = msgx.folder / "msgx.toml"
    config.write_text(config.read_text() + '\n[msgx.history]\nurl = "file:data/history"\n')


def test_a_flight_that_left_and_came_back_after_the_backup(msgx: Msgx) -> None:
    """D-10, D-33, D-37: the sweep comes before the taking in, so what brought it back finds it gone."""
    with_history(msgx)
    consumer = Consumer(msgx.folder)
    done(msgx, schedule("DNLD", [fltr(1, "01JAN210805"), fltr(2, "01JAN990805")]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    lost = done(msgx, flop(1, "GTDT", gate("A1")))
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    lost += done(msgx, adft(fltr(1, "01JAN990805")), flop(1, "GTDT", gate("B2")))
    consumer.follow()
    before = live(msgx)
    assert before[1]["GTDT"] == [{"GTNO": "1", "GATE": "B2"}]
    restored(msgx, backup)

    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[-1]}", *WHY, "--json")
    assert answer.json == {"MESSAGES_TAKEN_IN": len(lost), "FROM_ARCHIVE": 0}
    assert f"msgx messages --state DEAD --after {lost[0] - 1}" in answer.err
    msgx.ok("drain")
    assert msgx.ok("messages", "--state", "DEAD", "--after", lost[0] - 1, "--json").json == []
    msgx.ok("recover", "--versions-by", 1000, "--republish", *WHY)
    msgx.ok("drain")
    consumer.follow()
    assert plain(live(msgx)) == plain(before)
    assert consumer.flights == live(msgx)
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 0
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0


def test_a_flight_that_came_back_is_dead(msgx: Msgx) -> None:
    """D-10, D-33: without that sweep taking in tells of it; sweep, replay and a request mend it."""
    with_history(msgx)
    done(msgx, schedule("DNLD", [fltr(1, "01JAN210805")]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    msgx.ok("sweep")
    lost = done(msgx, adft(fltr(1, "01JAN990805")))
    restored(msgx, backup)

    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[0]}", *WHY, "--json")
    assert answer.json == {"MESSAGES_TAKEN_IN": 1, "FROM_ARCHIVE": 0, "FLIGHTS_LEFT_BEFORE": 1}
    assert "`msgx sweep` first" in answer.err
    msgx.ok("drain")
    (dead,) = msgx.ok("messages", "--state", "DEAD", "--after", lost[0] - 1, "--json").json
    assert (dead["MSG_ID"], dead["REASON"]) == (lost[0], "SAME_FLID_ACROSS_OPERATION_DAYS")
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    msgx.ok("replay", lost[0], *WHY)
    msgx.ok("drain")
    msgx.ok("request", "schedule", "2099-01-01", *WHY)
    assert live(msgx)[1]["OPERATION_DAY"] == "2099-01-01"
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0
    # A second portion: who came back since is no stranger.
    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[0]}", *WHY, "--json")
    assert "FLIGHTS_LEFT_BEFORE" not in answer.json
