"""Store suite: lists that go on behind what has been seen, and those about one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from typing import Any, TypeVar

import pytest

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.proc import AbandonReason
from msgx_core.model.schedule import SnapshotFlag as Flag
from msgx_core.model.schedule import SnapshotLogRow, SnapshotResult
from msgx_core.ports import Store
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NEXT_DAY,
    NOW,
    apply,
    close,
    dead,
    enqueue,
    flight,
    later,
    put,
    request,
)
from msgx_core.testing.store_contract import StoreContract

T = TypeVar("T")
Key = Callable[[Any], Any]


def walked(fetch: Callable[[Any], Sequence[T]], key: Key) -> list[T]:
    """All items in pages of two."""
    found: list[T] = []
    after = None
    while page := fetch(after):
        assert len(page) <= 2
        found.extend(page)
        after = key(page[-1])
    return found


class PagingContract(StoreContract):
    """`after` of the lists of `ports.operations.Views`: every item once, in the order of the whole list."""

    @pytest.fixture
    def long(self, held: Store) -> Store:
        """Five messages, each with an event in both topics, a log row, an alert and an action about it."""
        for msg_id in range(1, 6):
            apply(held, msg_id, put(flight(msg_id)))
            held.finish(msg_id, NOW)
            held.log_snapshots([SnapshotLogRow(msg_id, NOW, SnapshotResult.COMMITTED)])
            held.raise_alert(Alert(AlertCode.EMPTY, msg_id), NOW)
        for msg_id in range(6, 11):
            close(held, dead("MALFORMED", "raw-missing"), msg_id)
        held.replay(list(range(6, 9)), [], AUDIT, NOW)
        held.replay([6], [], AUDIT, NOW)
        return held

    @pytest.mark.parametrize("target", [None, "KAFKA:msg"])
    def test_events(self, long: Store, target: str | None) -> None:
        """Both topics count their own ids, so that a place is an id and a topic."""
        whole = list(long.events(None, target, 100))
        assert len(whole) == (10 if target is None else 5)
        seen = walked(
            lambda after: long.events(None, target, 2, after), lambda row: (row["EVENT_ID"], row["TARGET"])
        )
        assert seen == whole
        assert long.events("PENDING", target, 2, (5, "KAFKA:schd")) == []

    def test_dead_events(self, long: Store) -> None:
        """They have a statement of their own."""
        long.settle_events([EventSettled(n, Target.MSG, n, 1, EventStatus.DEAD) for n in (1, 2, 3)], [], NOW)
        seen = walked(
            lambda after: long.events("DEAD", None, 2, after), lambda row: (row["EVENT_ID"], row["TARGET"])
        )
        assert [row["EVENT_ID"] for row in seen] == [1, 2, 3]

    def test_snapshots(self, long: Store) -> None:
        """Newest first: a page goes on below the last number."""
        whole = list(long.snapshots(100))
        assert len(whole) == 5
        assert walked(lambda after: long.snapshots(2, after), lambda row: row["LOG_ID"]) == whole
        assert [row["MSG_ID"] for row in long.snapshots(100, msg_id=3)] == [3]

    def test_snapshots_of_a_time_and_with_a_flag(self, held: Store) -> None:
        """The scope of a day ends before its end, that of a window with it. Flags are whole words."""
        rows: list[tuple[date | None, int | None, int | None, list[Flag]]] = [
            (DAY, 0, 100, [Flag.EMPTY]),
            (NEXT_DAY, 100, 200, [Flag.RECS_DROP, Flag.EMPTY]),
            (None, 50, 150, []),
            (None, 30, 100, [Flag.RECS_DROP]),
            (None, None, None, [Flag.DAY_MISMATCH]),
        ]
        for msg_id, (day, start, end, flags) in enumerate(rows, start=1):
            row = SnapshotLogRow(
                msg_id,
                NOW,
                SnapshotResult.COMMITTED,
                operation_day=day,
                scope_start=None if start is None else later(start),
                scope_end=None if end is None else later(end),
                flags=tuple(flags),
            )
            held.log_snapshots([row])

        def found(**where: Any) -> list[int]:
            return [row["MSG_ID"] for row in held.snapshots(100, **where)]

        first, second = (later(0), later(100)), (later(100), later(200))
        assert found(between=first) == [4, 3, 1]
        assert found(between=second) == [4, 3, 2]
        assert found(between=(later(200), later(300))) == []
        assert found(flag="EMPTY") == [2, 1]
        assert found(flag="RECS_DROP") == [4, 2]
        assert found(flag="RECS") == []
        assert found(between=second, flag="RECS_DROP") == [4, 2]
        assert found(between=second, flag="EMPTY", msg_id=1) == []
        newest = held.snapshots(1, between=first)
        assert [row["MSG_ID"] for row in held.snapshots(1, newest[0]["LOG_ID"], between=first)] == [3]

    def test_alerts(self, long: Store) -> None:
        """Open ones and all of them."""
        whole = list(long.alerts(limit=100))
        assert len(whole) == 5
        assert walked(lambda after: long.alerts(False, 2, after), lambda row: row["ALERT_ID"]) == whole
        long.acknowledge([whole[0]["ALERT_ID"]], AUDIT, NOW)
        assert len(walked(lambda after: long.alerts(True, 2, after), lambda row: row["ALERT_ID"])) == 5
        assert [row["MSG_ID"] for row in long.alerts(True, 100, msg_id=1)] == [1]
        assert long.alerts(False, 100, msg_id=1) == []

    def test_writebacks(self, long: Store) -> None:
        """Owed and abandoned ones."""
        whole = list(long.writebacks(limit=100))
        assert len(whole) > 2
        assert walked(lambda after: long.writebacks(False, 2, after), lambda row: row["MSG_ID"]) == whole
        for row in whole[:3]:
            alert = Alert(AlertCode.MISSING_ROW, row["MSG_ID"])
            long.writeback_abandon(row["MSG_ID"], AbandonReason.MISSING_ROW, alert, NOW)
        assert len(walked(lambda after: long.writebacks(True, 2, after), lambda row: row["MSG_ID"])) == 3

    def test_requests_and_audit(self, held: Store) -> None:
        """Newest first, and the actions on one target."""
        enqueue(held, 1)
        ids = [held.create_request(request(), AUDIT, NOW).request_id for _ in range(5)]
        seen = walked(lambda after: held.requests(2, after), lambda each: each.request_id)
        assert [each.request_id for each in seen] == ids[::-1]
        audit = walked(lambda after: held.audit(2, after), lambda row: row["AUDIT_ID"])
        numbers = [row["AUDIT_ID"] for row in audit]
        assert len(numbers) == 5
        assert all(newer > older for newer, older in pairwise(numbers))
        assert [row["TARGET"] for row in held.audit(100, target=ids[2])] == [ids[2]]
