"""What every mailbox does (IMP §4.1, §6.2, D-35, D-43, D-44).

class TestMyInbox(InboxContract):
    @pytest.fixture
    def mailbox(self): ...
    @pytest.fixture
    def inbox(self, mailbox): ...   # with the zone ZONE and mailbox.clock
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Protocol
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import Inbox
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.contract import Contract

ZONE = ZoneInfo("Europe/Berlin")
"""The airport's zone in this suite: one whose clock changes twice a year."""

XML = '<?xml version="1.0" encoding="UTF-8"?>\n<MSG>北京 ü</MSG>'
NOON = datetime(2021, 1, 23, 11, 0, tzinfo=UTC)
ZERO_DATE = "0000-00-00 00:00:00"


class MailboxHarness(Protocol):
    """The owner's side of the mailbox, by other means than the adapter.

    Times are airport local time, `YYYY-MM-DD HH:MM:SS`. `empty_marks` are values other than NULL that stand
    for an empty processing time here (a zero date at least, if the mailbox can hold one).
    """

    clock: ManualClock
    keeps_bytes: bool
    empty_marks: Sequence[str]

    def put(
        self,
        raw: RawText | None,
        *,
        msg_id: int | None = None,
        received: str | None = None,
        processed: str | None = None,
    ) -> int:
        """Insert and commit a row, with the next id or this one."""
        ...

    def delete(self, msg_id: int) -> None:
        """Delete a row."""
        ...

    def raw(self, msg_id: int) -> RawText | None:
        """The message as it is stored."""
        ...

    def received(self, msg_id: int) -> str | None:
        """The stored receive time."""
        ...

    def processed(self, msg_id: int) -> str | None:
        """The stored processing time."""
        ...

    def refuse_mark(self, msg_id: int) -> None:
        """From now on the mailbox refuses to mark this one row."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """While inside, the mailbox does not answer."""
        ...


class ReadingCases(Contract):
    """Reading: which rows wait, when they came, what they say."""

    @pytest.fixture
    def mailbox(self) -> MailboxHarness:
        """The mailbox of this test, empty."""
        raise NotImplementedError

    @pytest.fixture
    def inbox(self, mailbox: MailboxHarness) -> Inbox:
        """The adapter under test, on that mailbox."""
        raise NotImplementedError

    def test_scan_goes_page_by_page(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-022, R-023, D-35: ascending, above `after`, at most `limit`."""
        ids = [mailbox.put(XML) for _ in range(5)]
        assert list(inbox.scan(0, 2)) == ids[:2]
        assert list(inbox.scan(ids[1], 2)) == ids[2:4]
        assert list(inbox.scan(ids[3], 2)) == ids[4:]
        assert list(inbox.scan(ids[4], 2)) == []

    def test_scan_skips_marked_rows(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-027, D-35: a page is full of waiting rows, however many marked ones lie between."""
        for _ in range(50):
            mailbox.put(XML, processed="2021-01-23 10:00:00")
        first = mailbox.put(XML)
        mailbox.put(XML, processed="2021-01-23 10:00:00")
        second = mailbox.put(XML)
        assert list(inbox.scan(0, 2)) == [first, second]

    def test_scan_takes_an_empty_value_for_empty(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-35: a zero date is no processing time."""
        ids = []
        for value in mailbox.empty_marks:
            ids += [mailbox.put(XML, processed=value), mailbox.put(XML)]
        assert list(inbox.scan(0, 100)) == ids

    def test_a_late_commit_with_a_smaller_id_is_seen(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-031, D-35: no cursor and no snapshot outlives a scan."""
        mailbox.put(XML, msg_id=10)
        mailbox.put(XML, msg_id=12)
        assert list(inbox.scan(0, 10)) == [10, 12]
        mailbox.put(XML, msg_id=11)
        assert list(inbox.scan(0, 10)) == [10, 11, 12]

    def test_pages_together_are_what_waits(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """INV-1, D-35: for any rows and any page size, each waiting row once and in order."""
        empty = [None, *mailbox.empty_marks]
        marks = st.sampled_from([*empty, "2021-01-23 10:00:00"])

        @settings(deadline=None, max_examples=25)
        @given(rows=st.dictionaries(st.integers(1, 60), marks, max_size=12), limit=st.integers(1, 5))
        def pages(rows: dict[int, str | None], limit: int) -> None:
            seen: list[int] = []
            try:
                for msg_id, processed in rows.items():
                    mailbox.put(XML, msg_id=msg_id, processed=processed)
                while page := inbox.scan(seen[-1] if seen else 0, limit):
                    assert len(page) <= limit
                    seen += page
            finally:
                for msg_id in rows:
                    mailbox.delete(msg_id)
            assert seen == sorted(msg_id for msg_id, processed in rows.items() if processed in empty)

        pages()

    def test_received_at_gives_instants(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """IMP §4.1: airport local time, summer and winter; rows that are gone are left out."""
        winter = mailbox.put(XML, received="2021-01-23 12:00:00")
        summer = mailbox.put(XML, received="2021-07-23 12:00:00", processed="2021-07-23 12:00:01")
        unknown = mailbox.put(XML)
        got = inbox.received_at([winter, summer, unknown, unknown + 99])
        assert got == {winter: NOON, summer: datetime(2021, 7, 23, 10, tzinfo=UTC), unknown: None}
        assert inbox.received_at([]) == {}

    def test_received_at_without_a_date(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-35: a zero date says nothing."""
        if ZERO_DATE in mailbox.empty_marks:
            msg_id = mailbox.put(XML, received=ZERO_DATE)
            assert inbox.received_at([msg_id]) == {msg_id: None}

    def test_received_at_when_the_clock_changes(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-43: of a repeated hour the first one, over a jump forward."""
        repeated = mailbox.put(XML, received="2021-10-31 02:30:00")
        jumped = mailbox.put(XML, received="2021-03-28 02:30:00")
        assert inbox.received_at([repeated, jumped]) == {
            repeated: datetime(2021, 10, 31, 0, 30, tzinfo=UTC),
            jumped: datetime(2021, 3, 28, 1, 30, tzinfo=UTC),
        }

    def test_fetch_gives_the_text(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-018, D-44: whole and unchanged, also the largest; marked or not."""
        large = f"<MSG>{'北京' * 500_000}</MSG>"
        ids = [mailbox.put(XML), mailbox.put(large), mailbox.put("", processed="2021-01-23 10:00:00")]
        assert [inbox.fetch(msg_id) for msg_id in ids] == [XML, large, ""]

    def test_fetch_of_what_is_not_there(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """D-36: a row that is gone, and one without a text."""
        gone, null = mailbox.put(XML), mailbox.put(None)
        mailbox.delete(gone)
        assert (inbox.fetch(gone), inbox.fetch(null)) == (None, None)

    def test_small_texts_come_together(self, inbox: Inbox, mailbox: MailboxHarness) -> None:
        """R-464: those that are there and no longer than the limit, in bytes; the others are left out."""
        text = "<MSG>北京</MSG>"
        longer = f"{text} "
        size = len(text.encode())
        ids = [mailbox.put(each) for each in (text, longer, None, text)]
        mailbox.delete(ids[-1])
        assert dict(inbox.fetch_small(ids, size + 1)) == {ids[0]: text, ids[1]: longer}
        assert dict(inbox.fetch_small(ids, size)) == {ids[0]: text}
        assert dict(inbox.fetch_small(ids, size - 1)) == {}
        assert dict(inbox.fetch_small([], size)) == {}
