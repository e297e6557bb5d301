"""The ways of deletion look the same from outside; and what links flights (IMP §12.3, FST §6.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest

from embedded import System, closing_system
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit
from msgx_core.rules.retry import MESSAGE_BACKOFF
from wire import fdel, flop, fltr, schedule

DAY = date(2027, 3, 14)


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        made.send([schedule("DNLD", [fltr(1), fltr(2), fltr(3, MAID="0000002", CSOP="QX", CSFT="100")])])
        made.drain()
        yield made


def absent(system: System) -> bytes:
    """A whole day without the flights 2 and 3."""
    request = Request(
        0, RequestSlot.RQFD, RequestState.PENDING, system.clock.now(), seqn="1", first_day=DAY, last_day=DAY
    )
    system.store.create_request(request, Audit("test", "asked"), system.clock.now())
    return schedule("RESP", [fltr(1)])


def notices(system: System, flid: int) -> list[dict[str, Any]]:
    """What the topic has of a flight."""
    return [v for r in system.bus.of("KAFKA_MSG") if (v := json.loads(r.value))["FLID"] == flid]


@pytest.mark.parametrize(
    ("delete", "reasons"),
    [
        pytest.param(lambda system: fdel(2), {2: "FDEL", 3: "CASCADE"}, id="FDEL-and-cascade"),
        pytest.param(absent, {2: "SNAPSHOT_ABSENT", 3: "SNAPSHOT_ABSENT"}, id="absence"),
    ],
)
def test_each_deletion_has_one_shape(
    system: System, delete: Callable[[System], bytes], reasons: dict[int, str]
) -> None:
    """R-298, R-300, R-302, R-310, R-311: a tombstone with the next version for each, the cache key gone, the
    roster row gone; `0000002` and `2` are one flight."""
    system.send([delete(system)])
    system.drain()
    shapes = set()
    for flid, reason in reasons.items():
        before, last = notices(system, flid)[-2:]
        assert (last["KIND"], last["DELETED"], last["REASON"]) == ("DELETE", True, reason)
        assert last["STATE_VERSION"] > before["STATE_VERSION"]
        assert system.cache.get(flid) is None
        shapes.add(tuple(sorted(last)))
    assert len(shapes) == 1
    assert system.store.rosters(DAY)[0].flids == {1}


def test_what_an_fdel_holds_beside_its_empty_tag_does_not_count(system: System) -> None:
    """R-236, R-301: the tag is always empty; whatever stands in it, the flight is deleted, nothing more."""
    body = "<FDEL>2</FDEL><FLNO>XX9</FLNO><STND>7</STND>"
    system.send([flop(1, "FDEL", body)])
    system.drain()
    deleted = system.document(1)
    assert (deleted["STATE"], deleted["FLNO"], deleted["STATE_VERSION"]) == ("DELETED", "QX1", 2)
    assert "STND" not in deleted
    assert system.document(2)["STATE"] == "ACTIVE"


def test_a_tombstone_is_tried_until_it_is_sent(system: System) -> None:
    """R-368: committed with the deletion; refused, it comes again after its pause."""
    system.bus.refuse = lambda record: "refused:moody" if b"DELETED" in record.value else None
    system.send([fdel(1)])
    system.drain()
    assert [n["KIND"] for n in notices(system, 1)] == ["UPSERT"]
    assert system.store.flight_events(1)[-1]["STATUS"] == "PENDING"
    system.bus.refuse = None
    system.clock.advance(MESSAGE_BACKOFF[0])
    system.drain()
    assert [n["KIND"] for n in notices(system, 1)] == ["UPSERT", "DELETE"]


def test_a_shared_flight_and_a_turnaround_are_two_things(system: System) -> None:
    """R-313, R-314, R-315: `MAID` links a shared flight, which has its own carrier and number; `TAID` links
    an arrival with a departure and makes no list."""
    system.send([schedule("DNLD", [fltr(4, TAID="1", TAOP="QX", TAFL="100"), fltr(5, MAID="1")])])
    system.drain()
    main, shared, turned = (system.document(flid) for flid in (1, 3, 4))
    assert [child["FLID"] for child in main["MAFL"]] == [5]
    assert (shared["CSOP"], shared["CSFT"], shared["MAID"], "MAFL" in shared) == ("QX", "100", 2, False)
    assert (turned["TAID"], "MAFL" in turned, "MAID" in turned) == (1, False, False)
