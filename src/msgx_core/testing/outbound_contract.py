"""What every outbound mailbox does (IMP §7.2, D-32).

class TestMyOutbound(OutboundContract):
    @pytest.fixture
    def mailbox(self): ...
    @pytest.fixture
    def outbound(self, mailbox): ...   # with the zone ZONE and mailbox.clock
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx_core.errors import Fenced, Late, Transient
from msgx_core.ports.outbound import Outbound
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.contract import Contract

ZONE = ZoneInfo("Europe/Berlin")
"""The airport's zone in this suite: one whose clock changes twice a year."""

REQUEST = '<?xml version="1.0" encoding="UTF-8"?>\n<MSG><META><SEQN>17</SEQN></META>北京 \'"\\%s</MSG>'
NOON = datetime(2021, 1, 23, 11, 0, tzinfo=UTC)


class OutboundHarness(Protocol):
    """The owner's side of the mailbox, by other means than the adapter. Times are airport local time."""

    clock: ManualClock

    def put(self, text: str, inserted: str) -> int:
        """Somebody else inserts and commits a row."""
        ...

    def rows(self) -> Sequence[tuple[int, str, str, str]]:
        """All rows by id: id, text, inserted, routing id."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """While inside, the mailbox does not answer."""
        ...


class OutboundContract(Contract):
    """All cases for an `Outbound`."""

    @pytest.fixture
    def mailbox(self) -> OutboundHarness:
        """The mailbox of this test, empty."""
        raise NotImplementedError

    @pytest.fixture
    def outbound(self, mailbox: OutboundHarness) -> Outbound:
        """The adapter under test, on that mailbox."""
        raise NotImplementedError

    def test_a_row_is_written_as_it_is(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """IMP §7.2: committed, text unchanged, whole seconds of the airport's clock, rising ids."""
        mailbox.clock.set(datetime(2021, 7, 23, 11, 0, 0, 700_000, tzinfo=UTC))
        first = outbound.insert(REQUEST, "SCHD")
        mailbox.clock.set(datetime(2021, 1, 23, 11, 0, tzinfo=UTC))
        second = outbound.insert("<MSG/>", "REF")
        assert second > first
        assert list(mailbox.rows()) == [
            (first, REQUEST, "2021-07-23 13:00:00", "SCHD"),
            (second, "<MSG/>", "2021-01-23 12:00:00", "REF"),
        ]

    def test_what_was_inserted_since(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-32: ours and others', by id, from the very second on."""
        mailbox.put("early", "2021-01-23 11:59:58")
        mailbox.clock.set(NOON + timedelta(seconds=0.9))
        ours = outbound.insert(REQUEST, "SCHD")
        others = mailbox.put("", "2021-01-23 12:00:01")
        for since in (NOON, NOON + timedelta(seconds=0.9)):
            found = outbound.inserted_since(since)
            assert [(row.row_id, row.text) for row in found] == [(ours, REQUEST), (others, "")]
        assert list(outbound.inserted_since(NOON + timedelta(seconds=2))) == []

    def test_an_instant_is_meant(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-32: whatever zone it is given in."""
        row_id = mailbox.put("x", "2021-07-23 12:00:00")
        shanghai = datetime(2021, 7, 23, 18, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
        assert [row.row_id for row in outbound.inserted_since(shanghai)] == [row_id]
        assert list(outbound.inserted_since(shanghai + timedelta(minutes=1))) == []

    def test_nothing_of_ours_is_overlooked(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-32: also when the clock was put back in between; missing a row would be a lost request."""
        start = datetime(2021, 10, 30, 22, 0, tzinfo=UTC)
        seconds = st.integers(0, 6 * 3600)

        @settings(deadline=None, max_examples=40)
        @given(sent=seconds, asked=seconds)
        def found(sent: int, asked: int) -> None:
            since, at = sorted((start + timedelta(seconds=sent), start + timedelta(seconds=asked)))
            mailbox.clock.set(at)
            row_id = outbound.insert("x", "R")
            assert row_id in [row.row_id for row in outbound.inserted_since(since)]

        found()

    def test_text_that_is_no_text_is_refused(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-44: half a surrogate pair cannot be stored."""
        with pytest.raises(ValueError, match=r"."):
            outbound.insert("<MSG>\ud800</MSG>", "R")
        assert list(mailbox.rows()) == []

    def test_an_outage_is_told_apart_and_passes(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-04: `Transient`, and nothing is written; the same adapter works afterwards."""
        row_id = outbound.insert(REQUEST, "R")
        calls: list[Callable[[], object]] = [
            lambda: outbound.insert(REQUEST, "R"),
            lambda: outbound.inserted_since(NOON),
            outbound.check_rights,
            outbound.ping,
        ]
        with mailbox.outage():
            for call in calls:
                with pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "mailbox"
        outbound.ping()
        assert [row[0] for row in mailbox.rows()] == [row_id]
        assert outbound.insert(REQUEST, "R") > row_id

    def test_asking_for_rights_changes_nothing(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """Issue 3: whoever may insert is told nothing."""
        first = outbound.insert(REQUEST, "R")
        outbound.check_rights()
        assert [row[0] for row in mailbox.rows()] == [first]
        assert outbound.insert(REQUEST, "R") == first + 1

    def test_a_row_within_its_permit(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """D-34: it is asked with an instant of the mailbox's clock, and again while it is ours to have."""
        asked: list[datetime] = []

        def permit(at: datetime) -> datetime:
            asked.append(at)
            return at + timedelta(seconds=0 if len(asked) == 1 else 60)

        row_id = outbound.insert(REQUEST, "R", permit)
        assert [row[0] for row in mailbox.rows()] == [row_id]
        assert [at.utcoffset() is not None for at in asked] == [True, True]

    def test_a_row_that_is_held_up_is_not_inserted(
        self, outbound: Outbound, mailbox: OutboundHarness
    ) -> None:
        """D-34, D-32: whatever stopped us, a request that another instance has given up is not sent."""

        def held_up(at: datetime) -> datetime:
            mailbox.clock.advance(1)
            time.sleep(0.05)
            return at + timedelta(seconds=0.02)

        def fenced(at: datetime) -> datetime:
            raise Fenced(1, 2)

        with pytest.raises(Late):
            outbound.insert(REQUEST, "R", held_up)
        with pytest.raises(Fenced):
            outbound.insert(REQUEST, "R", fenced)
        assert list(mailbox.rows()) == []
        row_id = outbound.insert(REQUEST, "R")
        assert [row[0] for row in mailbox.rows()] == [row_id]

    def test_threads_do_not_disturb_one_another(self, outbound: Outbound, mailbox: OutboundHarness) -> None:
        """Jobs and the HTTP side use it at the same time."""
        ids: list[int] = []
        threads = [
            threading.Thread(target=lambda: ids.extend(outbound.insert("x", "R") for _ in range(5)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(ids) == [row[0] for row in mailbox.rows()]
        assert len(set(ids)) == 20

    def test_closing_twice_is_fine(self, outbound: Outbound) -> None:
        """Whoever owns it may close it again; it answers no more."""
        outbound.ping()
        outbound.close()
        outbound.close()
        with pytest.raises(Transient):
            outbound.ping()
