"""What every mailbox does (IMP §4.1, §6.2, D-35, D-43, D-44).

class TestMyInbox(InboxContract):
    @pytest.fixture
    def mailbox(self): ...
    @pytest.fixture
    def inbox(self, mailbox): ...   # with the zone ZONE and mailbox.clock
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from msgx_core.errors import Fenced, Late, Transient
from msgx_core.ports.inbox import Inbox, MarkResult
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.inbox_reading import NOON, XML, ZERO_DATE, ZONE, MailboxHarness, ReadingCases

__all__ = ["NOON", "XML", "ZERO_DATE", "ZONE", "InboxContract", "MailboxHarness"]


class MarkCases(ReadingCases):
    """Write-back: the processing time."""

    def test_a_mark_is_local_time_in_whole_seconds(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-43: cut, not rounded; the airport's clock in winter, in summer and in both repeated hours."""
        instants = {
            datetime(2021, 1, 23, 11, 0, 0, 999_999, tzinfo=UTC): "2021-01-23 12:00:00",
            datetime(2021, 7, 23, 22, 59, 59, tzinfo=UTC): "2021-07-24 00:59:59",
            datetime(2021, 10, 31, 0, 30, tzinfo=UTC): "2021-10-31 02:30:00",
            datetime(2021, 10, 31, 1, 30, tzinfo=UTC): "2021-10-31 02:30:00",
            datetime(2021, 7, 23, 12, 0, tzinfo=ZoneInfo("Asia/Shanghai")): "2021-07-23 06:00:00",
        }
        marks = [(mailbox.put(XML), at) for at in instants]
        assert inbox.mark(marks) == {msg_id: MarkResult.WRITTEN for msg_id, _ in marks}
        assert [mailbox.processed(msg_id) for msg_id, _ in marks] == list(instants.values())

    def test_a_mark_changes_nothing_else(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-144: text and receive time stay; other rows too; the row is not scanned any more."""
        first = mailbox.put(XML, received="2021-01-23 11:59:00")
        second = mailbox.put(XML)
        inbox.mark([(first, NOON)])
        assert (mailbox.raw(first), mailbox.received(first)) == (XML, "2021-01-23 11:59:00")
        assert mailbox.processed(second) is None
        assert list(inbox.scan(0, 10)) == [second]

    def test_a_mark_is_never_overwritten(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-144: not the owner's and not our own, which makes a repeated write-back harmless."""
        owners, ours = mailbox.put(XML, processed="2020-02-02 02:02:02"), mailbox.put(XML)
        inbox.mark([(ours, NOON)])
        later = NOON + timedelta(hours=1)
        again = inbox.mark([(owners, later), (ours, later)])
        assert again == {owners: MarkResult.ALREADY_MARKED, ours: MarkResult.ALREADY_MARKED}
        assert mailbox.processed(owners) == "2020-02-02 02:02:02"
        assert mailbox.processed(ours) == "2021-01-23 12:00:00"

    def test_an_empty_value_is_marked(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-35: a zero date counts as empty in the mark as well."""
        ids = [mailbox.put(XML, processed=value) for value in mailbox.empty_marks]
        assert inbox.mark([(msg_id, NOON) for msg_id in ids]) == dict.fromkeys(ids, MarkResult.WRITTEN)
        assert {mailbox.processed(msg_id) for msg_id in ids} <= {"2021-01-23 12:00:00"}

    def test_a_missing_row_is_told_apart(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-145: gone is not marked, and does not keep the others from their mark."""
        gone, there = mailbox.put(XML), mailbox.put(XML)
        mailbox.delete(gone)
        assert inbox.mark([(gone, NOON), (there, NOON)]) == {
            gone: MarkResult.MISSING_ROW,
            there: MarkResult.WRITTEN,
        }
        assert inbox.mark([]) == {}

    def test_a_row_that_refuses_harms_no_other(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-04: its failure is its own value; the rows before and behind it are marked."""
        before, bad, behind = (mailbox.put(XML) for _ in range(3))
        mailbox.refuse_mark(bad)
        results = inbox.mark([(before, NOON), (bad, NOON), (behind, NOON)])
        assert (results[before], results[behind]) == (MarkResult.WRITTEN, MarkResult.WRITTEN)
        assert isinstance(results[bad], Exception)
        assert not isinstance(results[bad], Transient)
        assert mailbox.processed(before) == mailbox.processed(behind) == "2021-01-23 12:00:00"
        assert mailbox.processed(bad) is None

    def test_one_of_two_writers_marks(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-144: whoever comes second sees that it is marked."""
        msg_id = mailbox.put(XML)
        results: list[MarkResult | Exception] = []
        threads = [
            threading.Thread(target=lambda: results.append(inbox.mark([(msg_id, NOON)])[msg_id]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results.count(MarkResult.WRITTEN) == 1
        assert results.count(MarkResult.ALREADY_MARKED) == 3

    def test_asking_for_rights_changes_nothing(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """Issue 3: whoever may mark is told nothing."""
        ids = [mailbox.put(XML) for _ in range(2)]
        inbox.check_rights()
        assert {mailbox.processed(msg_id) for msg_id in ids} == {None}
        assert list(inbox.scan(0, 10)) == ids

    def test_a_mark_within_its_permit(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-34: asked once for all rows, with an instant of the mailbox's clock."""
        ids = [mailbox.put(XML) for _ in range(3)]
        asked: list[datetime] = []
        results = inbox.mark([(msg_id, NOON) for msg_id in ids], lambda at: _noted(asked, at, 60))
        assert results == dict.fromkeys(ids, MarkResult.WRITTEN)
        assert [at.utcoffset() is not None for at in asked] == [True]

    @pytest.mark.parametrize("many", [1, 3])
    def test_a_mark_that_is_held_up_changes_nothing(
        self, inbox: Inbox, mailbox: MailboxHarness, many: int
    ) -> None:
        """D-34: whatever stopped us, what begins after the permit is refused; later ones are written."""
        ids = [mailbox.put(XML) for _ in range(many)]
        marks = [(msg_id, NOON) for msg_id in ids]
        with pytest.raises(Late):
            inbox.mark(marks, lambda at: _held_up(mailbox.clock, at))
        assert {mailbox.processed(msg_id) for msg_id in ids} == {None}
        assert list(inbox.scan(0, 10)) == ids
        assert set(inbox.mark(marks).values()) == {MarkResult.WRITTEN}

    def test_who_is_only_slow_asks_again(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-34: a permit that ran out is renewed while it is ours to have."""
        ids = [mailbox.put(XML) for _ in range(3)]
        asked: list[datetime] = []
        marks = [(msg_id, NOON) for msg_id in ids]
        results = inbox.mark(marks, lambda at: _noted(asked, at, 60 if asked else 0))
        assert results == dict.fromkeys(ids, MarkResult.WRITTEN)
        assert len(asked) == 2

    def test_without_a_permit_nothing_is_marked(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-34: what it raises is what the caller gets."""
        msg_id = mailbox.put(XML)
        with pytest.raises(Fenced):
            inbox.mark([(msg_id, NOON)], _fenced)
        assert mailbox.processed(msg_id) is None
        assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}


def _noted(asked: list[datetime], at: datetime, seconds: float) -> datetime:
    asked.append(at)
    return at + timedelta(seconds=seconds)


def _held_up(clock: ManualClock, at: datetime) -> datetime:
    clock.advance(1)
    time.sleep(0.05)
    return at + timedelta(seconds=0.02)


def _fenced(at: datetime) -> datetime:
    raise Fenced(1, 2)


class InboxContract(MarkCases):
    """All cases for an `Inbox`."""

    def test_what_is_sent_waits(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """IMP §4.1: unmarked, received now by the airport's clock, with rising ids."""
        mailbox.clock.set(datetime(2021, 7, 23, 11, 0, 0, 700_000, tzinfo=UTC))
        ids = [inbox.send(XML), inbox.send(XML)]
        assert ids == sorted(set(ids))
        for msg_id in ids:
            assert mailbox.raw(msg_id) == XML
            assert (mailbox.received(msg_id), mailbox.processed(msg_id)) == ("2021-07-23 13:00:00", None)
        assert list(inbox.scan(0, 10)) == ids

    def test_bytes_are_kept_or_refused(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-44: a binary mailbox keeps any bytes, a text one refuses what it cannot hold."""
        chinese = '<?xml version="1.0" encoding="gb2312"?><MSG>北京</MSG>'.encode("gb18030")
        if mailbox.keeps_bytes:
            msg_id = inbox.send(chinese)
            assert mailbox.raw(msg_id) == inbox.fetch(msg_id) == chinese
            assert inbox.fetch(mailbox.put(chinese)) == chinese
        else:
            with pytest.raises(ValueError, match=r"."):
                inbox.send(b"<MSG>\xff\xfe\xfd</MSG>")
            assert list(inbox.scan(0, 10)) == []

    def test_text_that_is_no_text_is_refused(self, inbox: Inbox) -> None:
        """D-44: half a surrogate pair cannot be stored."""
        with pytest.raises(ValueError, match=r"."):
            inbox.send("<MSG>\ud800</MSG>")
        assert list(inbox.scan(0, 10)) == []

    def test_several_go_in_together_or_not_at_all(self, inbox: Inbox) -> None:
        """In the order given, ids rising; one that cannot be stored keeps all out (D-44)."""
        with pytest.raises(ValueError, match=r"."):
            inbox.send_many([XML, "<MSG>\ud800</MSG>"])
        assert list(inbox.scan(0, 10)) == []
        ids = inbox.send_many([XML, XML, XML])
        assert ids == sorted(set(ids))
        assert list(inbox.scan(0, 10)) == ids

    def test_an_outage_is_told_apart_and_passes(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-024, D-04: `Transient`, never "no messages"; the same adapter works afterwards."""
        msg_id = mailbox.put(XML)
        calls: list[Callable[[], object]] = [
            lambda: inbox.scan(0, 10),
            lambda: inbox.received_at([msg_id]),
            lambda: inbox.fetch(msg_id),
            lambda: inbox.mark([(msg_id, NOON)]),
            lambda: inbox.send(XML),
            inbox.check_rights,
            inbox.ping,
        ]
        with mailbox.outage():
            for call in calls:
                with pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "mailbox"
        inbox.ping()
        assert list(inbox.scan(0, 10)) == [msg_id]
        assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}

    def test_threads_do_not_disturb_one_another(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """Poller, pump and write-back use it at the same time."""
        sent: list[int] = []
        problems: list[Exception] = []

        def work() -> None:
            try:
                for _ in range(10):
                    msg_id = inbox.send(XML)
                    assert msg_id in inbox.scan(0, 1_000)
                    assert inbox.fetch(msg_id) == XML
                    assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}
                    sent.append(msg_id)
            except Exception as error:
                problems.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert len(set(sent)) == 40
        assert {mailbox.processed(msg_id) for msg_id in sent} == {"2021-01-23 12:00:00"}

    def test_closing_twice_is_fine(self, inbox: Inbox) -> None:
        """Whoever owns it may close it again."""
        inbox.ping()
        inbox.close()
        inbox.close()
