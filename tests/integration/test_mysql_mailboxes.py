"""MySQL mailboxes as they are found: old tables, other names, character sets, sizes, missing rights."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters import outbound_mysql
from msgx_adapters.inbox_mysql import Columns, MysqlInbox
from msgx_adapters.inbox_mysql.statements import Statements
from msgx_adapters.outbound_mysql import MysqlOutbound
from msgx_core.errors import ConfigError, Rejected, Transient
from msgx_core.ports.inbox import MarkResult
from msgx_core.testing.clock import ManualClock
from services.mysql import RIGHTS, Database, PrivateMysql, database, database_on, private_mysql, user_in

ZONE = ZoneInfo("Asia/Shanghai")
NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)
SENDER = "INSERT ON {}.CMINMSGS"
TEXT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)"


def opened(url: str, **more: Any) -> MysqlInbox:
    return MysqlInbox.open(url, zone=ZONE, clock=ManualClock(NOON), **more)


def outbound(url: str, **more: Any) -> MysqlOutbound:
    return MysqlOutbound.open(url, zone=ZONE, clock=ManualClock(NOON), **more)


@pytest.fixture
def server() -> Iterator[Database]:
    with database() as server:
        yield server


@pytest.fixture(scope="module")
def private() -> Iterator[PrivateMysql]:
    """As strict and as odd as a server's defaults can be."""
    mode = "TRADITIONAL,NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT,IGNORE_SPACE"
    with private_mysql(f"--sql-mode={mode}") as private:
        yield private


def test_zero_dates_where_the_server_forbids_them(private: PrivateMysql) -> None:
    """D-35: also in a column that is NOT NULL, where IS NULL finds them as well."""
    with database_on(private.url) as server:
        server.run(
            "ALTER TABLE CMINMSGS MODIFY CMINMSGS_DATE_PROCESSED DATETIME NOT NULL"
            " DEFAULT '0000-00-00 00:00:00', MODIFY CMINMSGS_DATE_RECEIVED DATETIME NOT NULL DEFAULT 0"
        )
        ids = [server.insert(TEXT, "<MSG a='\\'/>") for _ in range(5)]
        with closing(opened(server.user(*RIGHTS, SENDER))) as inbox:
            assert inbox.scan(0, 3) == ids[:3]
            assert inbox.scan(ids[2], 3) == ids[3:]
            assert inbox.received_at(ids[:1]) == {ids[0]: None}
            assert inbox.mark([(ids[0], NOON), (ids[1], NOON)]) == dict.fromkeys(ids[:2], MarkResult.WRITTEN)
            assert inbox.mark([(ids[0], NOON)]) == {ids[0]: MarkResult.ALREADY_MARKED}
            assert inbox.scan(0, 9) == ids[2:]
            text = "<MSG a=\"\\\" b='%s'/>\r\n\x1a"
            assert inbox.fetch(inbox.send(text)) == text


@pytest.mark.parametrize("name", ["scan", "mark", "marked"])
def test_no_statement_needs_a_mild_session(server: Database, name: str) -> None:
    """They would run in a session that forbids zero dates, too."""
    sql = getattr(Statements.load("CMINMSGS", Columns()), name)
    sql = sql.replace("/*list*/", "1").replace("/*cases*/", "WHEN 1 THEN '2021-01-01 00:00:00'")
    server.insert(TEXT, "<MSG/>")
    server.run("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '0000-00-00'")
    server.run("SET SESSION sql_mode = 'TRADITIONAL'")
    found = server.run(sql, *((0, 9, 0, 9, 9) if name == "scan" else ("2999-12-31 23:59:59.999999",)))
    assert found == {"scan": [(b"1",)], "mark": [], "marked": [(b"1", None, b"0")]}[name]


@pytest.mark.parametrize("charset", ["gbk", "latin1", "utf8", "utf8mb4"])
def test_the_character_set_of_the_table_is_the_owners(charset: str) -> None:
    """D-44: what it holds comes out; what it cannot hold is refused, never replaced or cut."""
    with database(charset=charset) as server:
        text, other = ("<MSG>é€</MSG>", "北京") if charset == "latin1" else ("<MSG>北京</MSG>", "😀")
        msg_id = server.insert(TEXT, text)
        with closing(opened(server.user(*RIGHTS, SENDER))) as inbox:
            assert inbox.fetch(msg_id) == text
            assert inbox.fetch(inbox.send(text)) == text
            if charset == "utf8mb4":
                assert inbox.fetch(inbox.send(other)) == other
            else:
                with pytest.raises(ValueError, match="1366"):
                    inbox.send(other)
                assert inbox.scan(0, 9) == [msg_id, msg_id + 1]


def test_bytes_are_decoded_into_a_text_column(server: Database) -> None:
    """D-44: by mark, by declaration, else as UTF-8."""
    declared = '<?xml version="1.0" encoding="gb2312"?><MSG>北京镕</MSG>'
    with closing(opened(server.user(*RIGHTS, SENDER))) as inbox:
        for raw, text in [
            (declared.encode("gb18030"), declared),
            (b"\xef\xbb\xbf<MSG/>", "<MSG/>"),
            ("<MSG>京</MSG>".encode("utf-16"), "<MSG>京</MSG>"),
            ("<MSG>京</MSG>".encode(), "<MSG>京</MSG>"),
        ]:
            assert inbox.fetch(inbox.send(raw)) == text
        for bad in (declared.encode("gb18030") + b"\xff", b'<?xml version="1.0" encoding="klingon"?><MSG/>'):
            with pytest.raises(ValueError, match=r"."):
                inbox.send(bad)


def test_a_column_of_bytes_gives_and_keeps_bytes(server: Database) -> None:
    """D-44."""
    server.run("ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG LONGBLOB")
    every = bytes(range(256)) * 3
    with closing(opened(server.user(*RIGHTS, SENDER))) as inbox:
        assert inbox.fetch(inbox.send(every)) == every
        assert inbox.fetch(inbox.send("北京\\")) == "北京\\".encode()


def test_text_with_a_binary_collation_is_text(server: Database) -> None:
    server.run("ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG MEDIUMTEXT COLLATE utf8mb4_bin")
    with closing(opened(server.user(*RIGHTS))) as inbox:
        assert inbox.fetch(server.insert(TEXT, "北京")) == "北京"


def test_a_row_whose_text_is_damaged_stands_alone(private: PrivateMysql) -> None:
    """`raw-unreadable`: an old table with bytes in it that are no text."""
    with database_on(private.url) as server:
        server.run("ALTER TABLE CMINMSGS ENGINE = MyISAM")
        bad, good = server.insert(TEXT, "<MSG>DAMAGED</MSG>"), server.insert(TEXT, "<MSG/>")
        server.run("FLUSH TABLES")
        file = private.server.folder / "data" / server.name / "CMINMSGS.MYD"
        file.write_bytes(file.read_bytes().replace(b"DAMAGED", b"DAM\xff\xfeED"))
        server.run("FLUSH TABLES")
        with closing(opened(server.user(*RIGHTS))) as inbox:
            with pytest.raises(Rejected) as caught:
                inbox.fetch(bad)
            assert caught.value.reason == "raw-unreadable"
            assert inbox.fetch(good) == "<MSG/>"
            assert inbox.mark([(good, NOON), (bad, NOON)]) == dict.fromkeys((good, bad), MarkResult.WRITTEN)


def test_ten_megabytes_and_one_packet_too_many(private: PrivateMysql) -> None:
    with database_on(private.url) as server:
        large = "京" * (10 * 2**20 // 3)
        large_id = server.insert(TEXT, large)
        url = server.user(*RIGHTS, SENDER)
        with closing(opened(url)) as inbox:
            assert inbox.fetch(large_id) == large
            assert inbox.fetch(inbox.send(large)) == large
        small_id = server.insert(TEXT, "<MSG/>")
        server.run("SET GLOBAL max_allowed_packet = 1048576")
        try:
            with closing(opened(url)) as inbox:
                assert inbox.fetch(large_id) == large
                assert inbox.fetch(small_id) == "<MSG/>"
                with pytest.raises(ValueError, match="max_allowed_packet"):
                    inbox.send(large)
                assert inbox.fetch(inbox.send("<MSG/>")) == "<MSG/>"
        finally:
            server.run("SET GLOBAL max_allowed_packet = 67108864")


THEIRS = Columns(id="ORDER", text="Group$", received="WHEN", processed="KEY")


def test_names_are_the_owners(server: Database) -> None:
    """wire.md: table and column names are parameters, SQL keywords included, also in another database."""
    server.run(
        "CREATE TABLE `SELECT` (`ORDER` BIGINT AUTO_INCREMENT PRIMARY KEY, `Group$` LONGTEXT,"
        " `WHEN` DATETIME, `KEY` DATETIME)"
    )
    server.run(
        "CREATE TABLE `TABLE` (`A` INT AUTO_INCREMENT PRIMARY KEY, `INTO` TEXT, `AT` DATETIME, `TO` TEXT)"
    )
    url = server.user("SELECT, INSERT, UPDATE (`KEY`) ON {}.`SELECT`", "SELECT, INSERT ON {}.`TABLE`")
    for table in ("SELECT", f"{server.name}.SELECT"):
        with closing(opened(url, table=table, columns=THEIRS)) as inbox:
            msg_id = inbox.send("<MSG/>")
            assert inbox.scan(msg_id - 1, 9) == [msg_id]
            assert inbox.received_at([msg_id]) == {msg_id: NOON}
            assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}
    columns = outbound_mysql.Columns(id="A", text="INTO", inserted="AT", routing_id="TO")
    with closing(outbound(url, table="TABLE", columns=columns)) as out:
        assert out.insert("x", "R") == 1
        assert out.inserted_since(NOON)[0].text == "x"


def test_what_is_missing_is_named_by_its_setting(server: Database) -> None:
    url = server.user(*RIGHTS)
    with pytest.raises(ConfigError, match=r"msgx\.mailbox\.table\.inbound = NOPE"):
        opened(server.url, table="NOPE")
    with pytest.raises(ConfigError, match=r"msgx\.mailbox\.table\.outbound = NOPE"):
        outbound(server.url, table="NOPE")
    with pytest.raises(ConfigError) as caught:
        opened(url, columns=Columns(processed="NOPE", text="NEITHER"))
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "msgx.mailbox.column.inbound-text = NEITHER",
        "msgx.mailbox.column.inbound-processed = NOPE",
    ]
    with pytest.raises(ConfigError, match=r"msgx\.mailbox\.column\.outbound-routing-id = NOPE"):
        outbound(url, columns=outbound_mysql.Columns(routing_id="NOPE"))
    for database_name in ("no_such_database", "mysql"):
        with pytest.raises(ConfigError, match=r"msgx\.mailbox\.(url|table)"):
            opened(url.replace(server.name, database_name))


def test_what_is_not_granted_is_said(server: Database) -> None:
    """Least privilege: reading is checked at the start, sending when somebody sends."""
    with pytest.raises(ConfigError, match="needs SELECT"):
        opened(server.user("SELECT ON {}.COUTMSGS"))
    with closing(opened(server.user("SELECT ON {}.CMINMSGS"))) as inbox:
        msg_id = server.insert(TEXT, "<MSG/>")
        assert inbox.fetch(msg_id) == "<MSG/>"
        with pytest.raises(ConfigError, match=r"needs INSERT on msgx\.mailbox\.table\.inbound"):
            inbox.send("<MSG/>")
        with pytest.raises(Transient, match="UPDATE command denied"):
            inbox.mark([(msg_id, NOON)])
        assert inbox.scan(0, 9) == [msg_id]


def test_a_right_that_is_missing_is_named_with_the_statement_that_grants_it(server: Database) -> None:
    """Issue 3: at the start, without any effect; user, place, table and column."""
    reader = server.user("SELECT ON {}.CMINMSGS", "SELECT ON {}.COUTMSGS")
    other = server.user("SELECT, UPDATE (CMINMSGS_STATUS) ON {}.CMINMSGS", "SELECT, UPDATE ON {}.COUTMSGS")
    place = reader.rpartition("@")[2]
    server.insert(TEXT, "<MSG/>")
    for url in (reader, other):
        user = user_in(url)
        wanted = f"GRANT UPDATE (`CMINMSGS_DATE_PROCESSED`) ON `{server.name}`.`CMINMSGS` TO {user} ("
        with closing(opened(url)) as inbox, pytest.raises(ConfigError) as caught:
            inbox.check_rights()
        assert f"msgx.mailbox.table.inbound = CMINMSGS: the mailbox user {user} on {place} " in str(
            caught.value
        )
        assert wanted in str(caught.value)
        with closing(outbound(url)) as out, pytest.raises(ConfigError) as caught:
            out.check_rights()
        assert f"GRANT INSERT ON `{server.name}`.`COUTMSGS` TO {user} (" in str(caught.value)
        server.run(f"GRANT UPDATE (CMINMSGS_DATE_PROCESSED) ON {server.name}.CMINMSGS TO {user}")
        server.run(f"GRANT INSERT ON {server.name}.COUTMSGS TO {user}")
        with closing(opened(url)) as inbox, closing(outbound(url)) as out:
            inbox.check_rights()
            out.check_rights()
    rows = "SELECT COUNT(*), COUNT(CMINMSGS_DATE_PROCESSED) FROM CMINMSGS"
    assert server.run(rows) == [(b"1", b"0")]
    assert server.run("SELECT * FROM COUTMSGS") == []


def test_a_column_that_wants_a_value_is_found_at_the_start(server: Database) -> None:
    """The owner's table has a column more, without a default."""
    server.run("ALTER TABLE COUTMSGS ADD COLUMN PRIORITY INT NOT NULL")
    with closing(outbound(server.user(*RIGHTS))) as out, pytest.raises(ConfigError, match="PRIORITY"):
        out.check_rights()


def test_a_mark_that_does_not_stay_is_no_mark(server: Database) -> None:
    """A trigger that puts the old value back."""
    msg_id = server.insert(TEXT, "<MSG/>")
    server.run(
        "CREATE TRIGGER keep BEFORE UPDATE ON CMINMSGS FOR EACH ROW SET NEW.CMINMSGS_DATE_PROCESSED = NULL"
    )
    with closing(opened(server.user(*RIGHTS))) as inbox:
        assert isinstance(inbox.mark([(msg_id, NOON)])[msg_id], Rejected)


def test_many_are_sent_all_or_none(server: Database) -> None:
    server.run("ALTER TABLE CMINMSGS MODIFY CMINMSGS_CLOB_MSG VARCHAR(10)")
    with closing(opened(server.user(*RIGHTS, SENDER))) as inbox:
        with pytest.raises(ValueError, match="1406"):
            inbox.send_many(["<MSG/>", "x" * 11])
        assert list(inbox.scan(0, 9)) == []
        ids = inbox.send_many(["<MSG/>", b"<MSG/>"])
        assert inbox.scan(0, 9) == sorted(ids)
        assert inbox.send_many([]) == []
