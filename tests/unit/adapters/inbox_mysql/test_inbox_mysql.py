"""What of the MySQL mailbox needs no server: SQL, templates, texts, outages before the first connection."""

import re
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_mysql import Columns, MysqlInbox
from msgx_adapters.inbox_mysql.statements import Statements
from msgx_adapters.inbox_mysql.texts import as_bytes, as_text
from msgx_core.errors import ConfigError, Transient
from msgx_core.testing.clock import ManualClock
from services.base import free_port

ZONE = ZoneInfo("Asia/Shanghai")


def test_a_server_that_is_not_there_is_waited_for() -> None:
    with pytest.raises(Transient, match="2003") as caught:
        MysqlInbox.open(f"mysql://u:p@127.0.0.1:{free_port()}/d", zone=ZONE, clock=ManualClock())
    assert caught.value.service == "mailbox"


def test_faults_of_the_configuration_come_first() -> None:
    """No connection is tried."""
    with pytest.raises(ConfigError, match=r"msgx\.mailbox\.column\.inbound-text"):
        MysqlInbox.open("mysql://h/d", zone=ZONE, clock=ManualClock(), columns=Columns(text="a b"))
    with pytest.raises(ConfigError, match=r"msgx\.mailbox\.url"):
        MysqlInbox.open("mysql://h", zone=ZONE, clock=ManualClock())


def test_only_one_column_is_ever_set() -> None:
    """wire.md: we set the processing time and change nothing else."""
    statements = Statements.load("T", Columns())
    for sql in (getattr(statements, name) for name in Statements.__annotations__):
        assert not re.search(r"\b(DELETE|REPLACE|ALTER|DROP|TRUNCATE|FOR UPDATE)\b", sql)
        sets = re.findall(r"UPDATE `T` SET (\S+) =", sql)
        assert sets in ([], ["`CMINMSGS_DATE_PROCESSED`"])


def test_the_grants_are_those_of_the_defaults() -> None:
    text = files("msgx_adapters.inbox_mysql").joinpath("grants.sql").read_text(encoding="utf-8")
    grants = re.findall(r"GRANT (.*) ON mailbox\.(\w+) TO", text)
    assert grants == [
        ("SELECT", "CMINMSGS"),
        (f"UPDATE ({Columns().processed})", "CMINMSGS"),
        ("SELECT, INSERT", "COUTMSGS"),
    ]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<M>京</M>", "<M>京</M>"),
        ("<M>京</M>".encode(), "<M>京</M>"),
        ("\ufeff<M/>".encode(), "<M/>"),
        ("<M>京</M>".encode("utf-16"), "<M>京</M>"),
        (
            b"<?xml version='1.0' encoding='GBK'?><M>\x81\x40</M>",
            "<?xml version='1.0' encoding='GBK'?><M>丂</M>",
        ),
    ],
)
def test_texts(raw: str | bytes, text: str) -> None:
    """D-44."""
    assert as_text(raw) == text


@pytest.mark.parametrize("raw", [b"<M>\xff</M>", "\ud800", b'<?xml version="1.0" encoding="no-such"?><M/>'])
def test_what_is_no_text(raw: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        as_text(raw)


def test_bytes() -> None:
    assert as_bytes(b"\xff") == b"\xff"
    assert as_bytes("京") == "京".encode()
