"""What every archive does (FST §3.2, D-36).

class TestMyArchive(ArchiveContract):
    @pytest.fixture
    def place(self): ...      # an ArchiveHarness
    @pytest.fixture
    def archive(self, place): ...
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx_core.errors import Rejected, Transient
from msgx_core.ports.archive import Archive, DepartureStep
from msgx_core.ports.codec import RawText
from msgx_core.testing.contract import Contract

NOON = datetime(2027, 3, 14, 12, 0, tzinfo=UTC)
ONE_DAY = timedelta(days=1)
RAW = '<?xml version="1.0" encoding="UTF-8"?>\r\n<MSG>北京</MSG>\n'.encode()


class ArchiveHarness(Protocol):
    """The same place, by other means than the adapter."""

    def objects(self) -> dict[str, bytes]:
        """Every object by its key, as it lies there; whatever else lies there too."""
        ...

    def write(self, key: str, data: bytes) -> None:
        """Put an object there."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """While inside, the archive does not answer."""
        ...


class ArchiveContract(Contract):
    """All cases for an `Archive`."""

    @pytest.fixture
    def place(self) -> ArchiveHarness:
        """Where this test's archive is, empty."""
        raise NotImplementedError

    @pytest.fixture
    def archive(self, place: ArchiveHarness) -> Archive:
        """The adapter under test, on that place."""
        raise NotImplementedError

    @pytest.mark.parametrize("raw", [RAW, RAW.decode(), b"\xff\xfe\x00", "half a pair \ud800", b"", ""])
    def test_what_was_put_comes_back(self, archive: Archive, raw: RawText) -> None:
        """D-36, D-44: bytes as bytes, text as text, whatever is in it."""
        found = archive.get(archive.put(12345, NOON, raw))
        assert found == raw
        assert type(found) is type(raw)

    def test_any_bytes_come_back(self, archive: Archive) -> None:
        """D-36: and no length is special."""

        @settings(deadline=None, max_examples=30)
        @given(raw=st.one_of(st.binary(max_size=4000), st.text(max_size=2000)))
        def kept(raw: RawText) -> None:
            assert archive.get(archive.put(1, NOON, raw)) == raw

        kept()

    def test_one_compressed_object_under_a_dated_key(self, archive: Archive, place: ArchiveHarness) -> None:
        """D-36: readable without us; the day is that of UTC; the same text gives the same object."""
        shanghai = datetime(2027, 3, 15, 7, 0, tzinfo=timezone(timedelta(hours=8)))
        key = archive.put(12345, shanghai, RAW)
        first = place.objects()
        assert list(first) == [key]
        assert key.startswith("2027/03/14/")
        assert "12345" in key
        assert gzip.decompress(first[key]) == RAW
        assert archive.put(12345, shanghai, RAW) == key
        assert place.objects() == first

    def test_a_second_text_takes_the_place_of_the_first(self, archive: Archive) -> None:
        """D-36: what a decision saw last is what is kept."""
        key = archive.put(7, NOON, b"<A/>")
        assert archive.put(7, NOON, b"<B/>") == key
        assert archive.get(key) == b"<B/>"

    def test_nothing_is_there(self, archive: Archive) -> None:
        """D-36: None, not an error."""
        assert archive.get("2027/03/14/00000000001.xml.gz") is None
        for no_key in ("", "/", "2027/03/14", "../x", "2027/03/14/README"):
            assert archive.get(no_key) is None
        assert archive.find(1) is None
        assert archive.find(1, NOON) is None
        assert list(archive.read()) == []
        assert archive.remove_before(date(2030, 1, 1)) == 0

    def test_a_message_is_found(self, archive: Archive) -> None:
        """D-36: by its day, or its newest anywhere."""
        old = archive.put(7, NOON - 40 * ONE_DAY, "text")
        new = archive.put(7, NOON, b"bytes")
        archive.put(77, NOON, b"another")
        assert archive.find(7, NOON - 40 * ONE_DAY) == old
        assert archive.find(7, NOON) == archive.find(7) == new
        assert archive.find(7, NOON + ONE_DAY) is None

    def test_a_range_of_days_is_read_in_order(self, archive: Archive) -> None:
        """D-36: by message id within a day, both ends included."""
        for days, msg_id in ((0, 10), (0, 9), (0, 10**12), (1, 2), (2, 1), (400, 3)):
            archive.put(msg_id, NOON + days * ONE_DAY, str(msg_id))

        def ids(first: date | None = None, last: date | None = None) -> list[int]:
            found = list(archive.read(first, last))
            assert all(one.raw == str(one.msg_id) and archive.get(one.key) == one.raw for one in found)
            return [one.msg_id for one in found]

        assert ids() == [9, 10, 10**12, 2, 1, 3]
        assert ids(date(2027, 3, 15), date(2027, 3, 16)) == [2, 1]
        assert ids(last=date(2027, 3, 14)) == [9, 10, 10**12]
        assert ids(first=date(2027, 3, 17)) == [3]

    def test_whole_days_go(self, archive: Archive, place: ArchiveHarness) -> None:
        """`msgx.archive.retention`: days before the cutoff; what is not ours stays."""
        for days in (0, 1, 2):
            archive.put(1, NOON + days * ONE_DAY, b"x")
            archive.put(2, NOON + days * ONE_DAY, "x")
        place.write("2027/03/14/README", b"kept")
        place.write("notes/2027", b"kept")
        assert archive.count_before(date(2027, 3, 16)) == 4
        assert archive.remove_before(date(2027, 3, 16)) == 4
        assert [one.msg_id for one in archive.read()] == [1, 2]
        assert {"2027/03/14/README", "notes/2027"} <= set(place.objects())
        assert archive.count_before(date(2027, 3, 16)) == archive.remove_before(date(2027, 3, 16)) == 0

    def test_steps_of_the_sweep_are_kept(self, archive: Archive) -> None:
        """D-36: in order of time, also two of one instant; they are no messages, and go with their day."""
        steps = [
            DepartureStep(NOON, {7: 3, 10**11: 9}),
            DepartureStep(NOON, {8: 2}),
            DepartureStep(NOON + ONE_DAY, {9: 2}),
        ]
        for step in reversed(steps[1:]):
            archive.put_step(step)
        archive.put_step(steps[0])
        assert sorted(archive.steps(), key=repr) == sorted(steps, key=repr)
        assert [step.at for step in archive.steps()] == [NOON, NOON, NOON + ONE_DAY]
        assert list(archive.read()) == []
        archive.remove_before(date(2027, 3, 15))
        assert list(archive.steps()) == steps[2:]

    def test_a_damaged_step_hides_no_other(self, archive: Archive, place: ArchiveHarness) -> None:
        """D-36: it comes at its time, without floors."""
        keys = [archive.put_step(DepartureStep(NOON + days * ONE_DAY, {7: 3})) for days in (0, 1, 2, 3)]
        place.write(keys[0], place.objects()[keys[0]][:-9])
        place.write(keys[1], gzip.compress(b"[]"))
        place.write(keys[2], gzip.compress(b'{"at": 5, "floors": {"7": 3}}'))
        place.write("2027/03/14/step-20271314T120000000000.json.gz", b"not ours")
        found = list(archive.steps())
        assert [step.at for step in found] == [NOON + days * ONE_DAY for days in (0, 1, 2, 3)]
        assert [step.floors for step in found] == [{}, {}, {}, {7: 3}]

    def test_a_damaged_object_is_named(self, archive: Archive, place: ArchiveHarness) -> None:
        """D-26: that one, and no other."""
        damaged, good = archive.put(1, NOON, RAW), archive.put(2, NOON, RAW)
        place.write(damaged, place.objects()[damaged][:-9])
        with pytest.raises(Rejected, match="archive-damaged") as caught:
            archive.get(damaged)
        assert damaged in str(caught.value)
        place.write(damaged, b"")
        with pytest.raises(Rejected, match="archive-damaged"):
            archive.get(damaged)
        assert archive.get(good) == RAW

    def test_an_outage_is_told_apart_and_passes(self, archive: Archive, place: ArchiveHarness) -> None:
        """D-04, D-36: `Transient`, never an empty archive; the same adapter works afterwards."""
        key = archive.put(1, NOON, RAW)
        calls: list[Callable[[], object]] = [
            archive.ping,
            lambda: archive.put(2, NOON + ONE_DAY, RAW),
            lambda: archive.get(key),
            lambda: archive.find(1),
            lambda: archive.find(1, NOON),
            lambda: list(archive.read()),
            lambda: archive.remove_before(date(2030, 1, 1)),
            lambda: archive.count_before(date(2030, 1, 1)),
        ]
        with place.outage():
            for call in calls:
                with pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "archive"
        archive.ping()
        assert archive.get(key) == RAW
        archive.put(2, NOON, RAW)

    def test_closed_is_closed(self, archive: Archive) -> None:
        """Twice is no harm."""
        archive.ping()
        archive.close()
        archive.close()
        with pytest.raises(Transient):
            archive.put(1, NOON, RAW)
