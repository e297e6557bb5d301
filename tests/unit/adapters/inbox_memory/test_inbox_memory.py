"""What is particular to the mailbox in memory."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_memory import MemoryInbox, Row
from msgx_core.errors import Transient
from msgx_core.testing.clock import ManualClock

NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)


@pytest.fixture
def inbox() -> MemoryInbox:
    return MemoryInbox(zone=ZoneInfo("Asia/Shanghai"), clock=ManualClock(NOON))


def test_the_owner_inserts_late_and_deletes(inbox: MemoryInbox) -> None:
    """R-030, R-031: any free id; an id that was used is not given again."""
    assert inbox.insert(7, "<A/>") == 7
    assert inbox.insert(3, "<B/>", received="2021-01-23 12:00:00") == 3
    with pytest.raises(ValueError, match="row 7 is there"):
        inbox.insert(7, "<C/>")
    inbox.delete(7)
    assert inbox.send(b"<D/>") == 8
    assert inbox.rows() == (
        Row(3, "<B/>", "2021-01-23 12:00:00"),
        Row(8, b"<D/>", "2021-01-23 12:00:00"),
    )


def test_the_owner_sees_it_during_an_outage(inbox: MemoryInbox) -> None:
    inbox.outage = "cable cut"
    inbox.insert(1, "<A/>")
    assert inbox.rows() == (Row(1, "<A/>"),)
    with pytest.raises(Transient, match="cable cut"):
        inbox.ping()


def test_many_messages_are_sent_all_or_none(inbox: MemoryInbox) -> None:
    with pytest.raises(UnicodeEncodeError):
        inbox.send_many(["<A/>", "\ud800"])
    assert inbox.rows() == ()
    assert inbox.send_many(["<A/>", b"<B/>"]) == [1, 2]


def test_a_receive_time_that_cannot_be_read_is_none(inbox: MemoryInbox) -> None:
    inbox.insert(1, "<A/>", received="yesterday")
    assert inbox.received_at([1]) == {1: None}


def test_a_closed_inbox_does_not_answer(inbox: MemoryInbox) -> None:
    inbox.close()
    with pytest.raises(Transient, match="closed"):
        inbox.scan(0, 1)
