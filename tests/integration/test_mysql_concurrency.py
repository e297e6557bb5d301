"""Others write to the MySQL mailbox too: late rows, vanished rows, several markers (D-35, R-144)."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from mysql.connector.errors import DatabaseError

from msgx_adapters.inbox_mysql import MysqlInbox
from msgx_adapters.inbox_mysql.statements import Columns, Statements
from msgx_core.errors import Transient
from msgx_core.ports.inbox import MarkResult
from msgx_core.testing.clock import ManualClock
from services.mysql import RIGHTS, Database, connect, database, database_on, private_mysql

ZONE = ZoneInfo("Asia/Shanghai")
NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)
INSERT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES ('<MSG/>')"


def opened(url: str) -> MysqlInbox:
    return MysqlInbox.open(url, zone=ZONE, clock=ManualClock(NOON))


@pytest.fixture
def server() -> Iterator[Database]:
    with database() as server:
        yield server


def late_row_is_seen(server: Database) -> None:
    """A transaction that began first commits last: its smaller id appears after a larger one."""
    with closing(opened(server.user(*RIGHTS))) as inbox, closing(connect(server.url)) as late:
        assert list(inbox.scan(0, 10)) == []
        late.start_transaction()
        with closing(late.cursor()) as cursor:
            cursor.execute(INSERT)
        second = server.insert(INSERT)
        assert inbox.scan(0, 10) == [second]
        assert inbox.fetch(second - 1) is None
        late.commit()
        assert inbox.scan(0, 10) == [second - 1, second]
        assert inbox.received_at([second - 1, second]) == {second - 1: None, second: None}
        assert inbox.fetch(second - 1) == "<MSG/>"


def test_a_row_that_appears_late(server: Database) -> None:
    """R-031."""
    late_row_is_seen(server)


def test_no_snapshot_is_held_where_the_server_would_hold_one() -> None:
    """D-35: autocommit off and REPEATABLE READ are the defaults of this server."""
    options = ("--autocommit=0", "--transaction-isolation=REPEATABLE-READ", "--init-connect=SET autocommit=0")
    with private_mysql(*options) as private, database_on(private.url) as server:
        late_row_is_seen(server)
        ids = [server.insert(INSERT) for _ in range(3)]
        with closing(opened(server.user(*RIGHTS))) as inbox:
            inbox.mark([(ids[0], NOON)])
            server.run("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = NOW() WHERE CMINMSGS_ID = %s", ids[1])
            server.run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s", ids[2])
            assert inbox.mark([(msg_id, NOON) for msg_id in ids]) == {
                ids[0]: MarkResult.ALREADY_MARKED,
                ids[1]: MarkResult.ALREADY_MARKED,
                ids[2]: MarkResult.MISSING_ROW,
            }
        held = "SELECT COUNT(*) FROM information_schema.INNODB_TRX"
        assert server.value(held) == "0"


def test_rows_that_vanish_between_scan_and_use(server: Database) -> None:
    """R-145: the owner cleans up while we work."""
    ids = [server.insert(INSERT) for _ in range(10)]
    with closing(opened(server.user(*RIGHTS))) as inbox:
        assert inbox.scan(0, 100) == ids
        server.run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID <= %s", ids[4])
        assert list(inbox.received_at(ids)) == ids[5:]
        assert inbox.fetch(ids[0]) is None
        fates = inbox.mark([(msg_id, NOON) for msg_id in ids])
    expected = dict.fromkeys(ids[:5], MarkResult.MISSING_ROW) | dict.fromkeys(ids[5:], MarkResult.WRITTEN)
    assert fates == expected


def test_markers_agree_who_wrote_what(server: Database) -> None:
    """R-144: of several markers one wrote each row, its time is what stands there, and deletions are told."""
    server.run(
        "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL"
        " SELECT i + 1 FROM n WHERE i < 600) SELECT '<MSG/>' FROM n"
    )
    ids = [int(row[0]) for row in server.run("SELECT CMINMSGS_ID FROM CMINMSGS ORDER BY 1")]
    url = server.user(*RIGHTS)
    chance = random.Random(7)
    gone = set(chance.sample(ids, 60))
    fates: list[dict[int, Any]] = [{} for _ in range(3)]

    def work(number: int, order: list[int]) -> None:
        at = NOON + timedelta(seconds=number)
        with closing(opened(url)) as inbox:
            for start in range(0, len(order), 150):
                fates[number] |= inbox.mark([(msg_id, at) for msg_id in order[start : start + 150]])

    threads = [threading.Thread(target=work, args=(n, chance.sample(ids, len(ids)))) for n in range(3)]
    for thread in threads:
        thread.start()
    for msg_id in gone:
        server.run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s", msg_id)
    for thread in threads:
        thread.join()
    stored = {
        int(row[0]): row[1].decode()
        for row in server.run("SELECT CMINMSGS_ID, CMINMSGS_DATE_PROCESSED FROM CMINMSGS")
    }
    assert set(stored) == set(ids) - gone
    for msg_id in ids:
        count = Counter(fate[msg_id] for fate in fates)
        assert count[MarkResult.WRITTEN] <= 1
        assert sum(count.values()) == 3
        assert not [fate for fate in count if isinstance(fate, Exception)]
        if msg_id in stored:
            writer = next(n for n in range(3) if fates[n][msg_id] is MarkResult.WRITTEN)
            assert stored[msg_id] == f"2021-01-23 12:00:0{writer}"
            assert count[MarkResult.ALREADY_MARKED] == 2


def test_a_batch_is_a_handful_of_statements() -> None:
    """200 marks: one update, and with a permit one look at the clock before it."""
    with private_mysql() as private, database_on(private.url) as server:
        ids = [server.insert(INSERT) for _ in range(200)]
        marks = [(msg_id, NOON + timedelta(seconds=n)) for n, msg_id in enumerate(ids)]
        with closing(opened(server.user(*RIGHTS))) as inbox:
            inbox.mark([(server.insert(INSERT), NOON)])
            status = "SHOW GLOBAL STATUS LIKE 'Questions'"
            for half, permit, statements in (
                (marks[:100], None, 1),
                (marks[100:], lambda at: at + timedelta(seconds=9), 2),
            ):
                before = int(server.run(status)[0][1])
                assert set(inbox.mark(half, permit).values()) == {MarkResult.WRITTEN}
                assert int(server.run(status)[0][1]) - before == statements + 1
        times = server.run("SELECT CMINMSGS_DATE_PROCESSED FROM CMINMSGS ORDER BY CMINMSGS_ID LIMIT 200")
        assert [row[0].decode() for row in times[:2]] == ["2021-01-23 12:00:00", "2021-01-23 12:00:01"]
        assert len({row[0] for row in times}) == 200


def test_scan_follows_the_index_in_order(server: Database) -> None:
    """D-35: 100 000 marked rows around those that wait cost nothing."""
    server.run(
        "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_PROCESSED)"
        " WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        " SELECT '<MSG/>', IF(a.i = 500 AND b.i % 10 = 0, NULL, NOW())"
        " FROM n a CROSS JOIN n b WHERE b.i <= 100"
    )
    server.run("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '0000-00-00' WHERE CMINMSGS_ID = 70000")

    def rows_read() -> int:
        return sum(int(row[1]) for row in server.run("SHOW SESSION STATUS LIKE 'Handler_read_%'"))

    with closing(opened(server.user(*RIGHTS))) as inbox:
        ids = list(inbox.scan(0, 200))
    scan = Statements.load("CMINMSGS", Columns()).scan
    before = rows_read()
    assert [int(row[0]) for row in server.run(scan, 0, 200, 0, 200, 200)] == ids
    assert len(ids) == 11
    assert rows_read() - before < 200


def test_connections_that_end_at_any_moment(server: Database) -> None:
    """For two seconds a killer is about: nothing but `Transient`, and never a wrong answer."""
    large = "京" * 300_000
    large_id = server.insert("INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)", large)
    server.run("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = NOW()")
    ids = [server.insert(INSERT) for _ in range(300)]
    url = server.user(*RIGHTS)
    over = threading.Event()
    wrong: list[object] = []
    done: Counter[str] = Counter()

    def loop(name: str, call: Callable[[], bool]) -> None:
        while not over.is_set():
            try:
                if not call():
                    wrong.append(name)
                done[name] += 1
            except Transient:
                done["lost"] += 1
            except Exception as error:
                wrong.append(error)

    with closing(opened(url)) as inbox:

        def unmarked() -> bool:
            # A mark that is cut off between two parts leaves the later ones empty: that is no wrong answer.
            found = list(inbox.scan(0, 500))
            return found == sorted(set(found)) and set(found) <= set(ids)

        marks = [(msg_id, NOON) for msg_id in ids]
        settled = {MarkResult.WRITTEN, MarkResult.ALREADY_MARKED}
        calls: dict[str, Callable[[], bool]] = {
            "scan": unmarked,
            "fetch": lambda: inbox.fetch(large_id) == large,
            "mark": lambda: set(inbox.mark(marks).values()) <= settled,
        }
        threads = [threading.Thread(target=loop, args=item) for item in calls.items()]
        for thread in threads:
            thread.start()
        for _ in range(150):
            over.wait(0.01)
            with suppress(DatabaseError):  # it ended by itself meanwhile
                server.kill(url)
        over.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert min(done[name] for name in calls) > 0
