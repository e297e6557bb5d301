"""What every snapshot cache does (INV-10, D-31).

class TestMyCache(CacheContract):
    @pytest.fixture
    def server(self): ...
    @pytest.fixture
    def cache(self, server): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx_core.errors import Transient
from msgx_core.ports.cache import Cache, CacheEntry, CacheGone, CachePut
from msgx_core.testing.contract import Contract

MON, TUE = date(2021, 1, 25), date(2021, 1, 26)


class CacheHarness(Protocol):
    """The cache server seen and changed by other means than the adapter."""

    def document(self, flid: int) -> str | None:
        """The document of a live flight as it is stored."""
        ...

    def version(self, flid: int) -> int | None:
        """The version held for a flight, live or deleted."""
        ...

    def days(self) -> Mapping[date, frozenset[int]]:
        """The day index; days without flights are left out."""
        ...

    def store_id(self) -> str | None:
        """The store that it belongs to."""
        ...

    def put(self, entry: CachePut) -> None:
        """A live flight with its day, written by someone else."""
        ...

    def clear(self) -> None:
        """Lose everything."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """While inside, the server does not answer."""
        ...


def put(flid: int, version: int, day: date | None = MON) -> CachePut:
    """A live flight whose document tells flight, version and day."""
    return CachePut(
        flid, version, day, f'{{"FLID":{flid},"STATE_VERSION":{version},"DAY":"{day}","航班":"号"}}'
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[CacheEntry], list[CacheEntry]]:
    """States of some flights, one per version, and the same in another order with repetitions."""
    history: list[CacheEntry] = []
    for flid in (1, 2, 3):
        for version in range(1, draw(st.integers(1, 4)) + 1):
            day = draw(st.sampled_from([MON, TUE, None]))
            states: list[CacheEntry] = [put(flid, version, day), CacheGone(flid, version, day)]
            history.append(draw(st.sampled_from(states)))
    repeated = draw(st.lists(st.sampled_from(history), max_size=4))
    return history, draw(st.permutations([*history, *repeated]))


class CacheContract(Contract):
    """Cases for a `Cache`."""

    @pytest.fixture
    def server(self) -> CacheHarness:
        """The server of this test, empty."""
        raise NotImplementedError

    @pytest.fixture
    def cache(self, server: CacheHarness) -> Cache:
        """The adapter under test, on that server."""
        raise NotImplementedError

    def test_a_new_cache_is_empty(self, cache: Cache) -> None:
        """D-31: an unfilled cache has no store id, which asks for a rebuild."""
        assert cache.store_id() is None
        assert cache.get(1) is None
        assert cache.day(MON) == frozenset()

    def test_writes_reach_the_server(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: document as given, version, day index."""
        cache.write([put(1, 7), put(2, 1, None)])
        assert server.document(1) == put(1, 7).document
        assert (server.version(1), server.version(2)) == (7, 1)
        assert server.days() == {MON: frozenset({1})}

    def test_reads_come_from_the_server(self, cache: Cache, server: CacheHarness) -> None:
        """D-31."""
        server.put(put(1, 7, TUE))
        assert cache.get(1) == put(1, 7, TUE).document
        assert cache.day(TUE) == frozenset({1})
        server.clear()
        assert cache.get(1) is None
        assert cache.day(TUE) == frozenset()
        assert cache.store_id() is None

    def test_nothing_to_write_is_fine(self, cache: Cache, server: CacheHarness) -> None:
        """INV-10: a message may touch no flight."""
        cache.write([])
        assert server.days() == {}

    @pytest.mark.parametrize("late", [put(1, 4, TUE), CacheGone(1, 4, TUE)])
    @pytest.mark.parametrize("held", [put(1, 5), CacheGone(1, 5, MON)])
    def test_an_older_version_changes_nothing(
        self, cache: Cache, server: CacheHarness, held: CacheEntry, late: CacheEntry
    ) -> None:
        """D-31: a write never replaces a newer version, and a deletion keeps late writers out."""
        cache.write([held])
        seen = server.document(1), server.version(1), server.days()
        cache.write([late])
        assert (server.document(1), server.version(1), server.days()) == seen

    def test_an_equal_version_is_rewritten(self, cache: Cache, server: CacheHarness) -> None:
        """INV-10: step ② may be repeated, and repairs what it finds."""
        cache.write([CachePut(1, 5, MON, '{"FLID":1}')])
        cache.write([put(1, 5, TUE)])
        assert server.document(1) == put(1, 5).document.replace(str(MON), str(TUE))
        assert server.days() == {TUE: frozenset({1})}

    def test_a_deletion_takes_the_flight_away(self, cache: Cache, server: CacheHarness) -> None:
        """D-06, D-31: key and day entry go, the version stays."""
        cache.write([put(1, 5), put(2, 1)])
        cache.write([CacheGone(1, 6, MON)])
        assert cache.get(1) is None
        assert server.document(1) is None
        assert server.version(1) == 6
        assert server.days() == {MON: frozenset({2})}

    def test_a_deletion_goes_by_the_day_that_is_held(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: a live flight is in the set of its day and in no other, a deleted one in none."""
        cache.write([put(1, 5, TUE)])
        cache.write([CacheGone(1, 6, None)])
        assert server.days() == {}

    def test_a_flight_comes_back_with_a_newer_version(self, cache: Cache, server: CacheHarness) -> None:
        """D-07."""
        cache.write([CacheGone(1, 6, MON), put(1, 7, TUE)])
        assert cache.get(1) == server.document(1) == put(1, 7, TUE).document
        assert server.days() == {TUE: frozenset({1})}

    def test_the_day_index_follows_the_flight(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: also to no day and back."""
        for version, day in enumerate([MON, TUE, None, MON], start=1):
            cache.write([put(1, version, day)])
            assert server.days() == ({} if day is None else {day: frozenset({1})})

    def test_any_order_of_writes_ends_in_the_newest(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: however late and however often writes come, the newest state of each flight remains."""

        @settings(deadline=None)
        @given(histories())
        def write(case: tuple[list[CacheEntry], list[CacheEntry]]) -> None:
            history, writes = case
            server.clear()
            for entry in writes:
                cache.write([entry])
            newest = {entry.flid: entry for entry in history}
            live = {flid: entry for flid, entry in newest.items() if isinstance(entry, CachePut)}
            assert {flid: server.document(flid) for flid in newest} == {
                flid: live[flid].document if flid in live else None for flid in newest
            }
            for day in (MON, TUE):
                assert cache.day(day) == {flid for flid, entry in live.items() if entry.day == day}
                assert server.days().get(day, frozenset()) == cache.day(day)

        write()

    def test_a_rebuild_makes_the_cache_what_the_pages_say(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: without the version guard, unknown keys and deletions removed, then the store id."""
        cache.write([put(1, 9), put(2, 9, TUE), CacheGone(3, 9, MON), CacheGone(4, 9, MON)])
        assert cache.rebuild("store-1", [[put(1, 2, TUE)], [], [put(3, 1)]]) == 2
        assert server.document(1) == put(1, 2, TUE).document
        assert (server.document(2), server.version(2), server.version(4)) == (None, None, None)
        assert server.days() == {MON: frozenset({3}), TUE: frozenset({1})}
        assert cache.store_id() == server.store_id() == "store-1"

    def test_an_empty_rebuild_empties_the_cache(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: a store without flights."""
        cache.write([put(1, 9)])
        assert cache.rebuild("store-1", []) == 0
        assert (server.document(1), server.days(), server.store_id()) == (None, {}, "store-1")

    def test_the_guard_is_back_after_a_rebuild(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: what the rebuild wrote is held with its version."""
        cache.rebuild("store-1", [[put(1, 5)]])
        cache.write([put(1, 4, TUE), CacheGone(1, 4, MON)])
        assert server.document(1) == put(1, 5).document

    def test_an_interrupted_rebuild_is_done_again(self, cache: Cache, server: CacheHarness) -> None:
        """D-31: no store id until the end, not even the one from before."""
        cache.rebuild("store-1", [[put(1, 1), put(2, 1)]])
        with pytest.raises(RuntimeError, match="died"):
            cache.rebuild("store-1", _dying([put(1, 2)]))
        assert cache.store_id() is None
        assert cache.rebuild("store-1", [[put(1, 2)]]) == 1
        assert cache.store_id() == server.store_id() == "store-1"
        assert server.days() == {MON: frozenset({1})}

    def test_an_outage_is_told_apart_and_passes(self, cache: Cache, server: CacheHarness) -> None:
        """D-04: every call raises `Transient`, and the same adapter works afterwards."""
        calls: list[Callable[[], object]] = [
            lambda: cache.write([put(1, 1)]),
            lambda: cache.get(1),
            lambda: cache.day(MON),
            cache.store_id,
            lambda: cache.rebuild("store-1", []),
            cache.ping,
        ]
        with server.outage():
            for call in calls:
                with pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "cache"
        cache.ping()
        cache.write([put(1, 1)])
        assert cache.get(1) == put(1, 1).document

    def test_closing_twice_is_fine(self, cache: Cache) -> None:
        """Whoever owns it may close it again."""
        cache.ping()
        cache.close()
        cache.close()


def _dying(page: Sequence[CachePut]) -> Iterator[Sequence[CachePut]]:
    yield page
    raise RuntimeError("died")
