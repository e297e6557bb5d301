"""The largest schedule: its size, its records, its limits."""

from __future__ import annotations

import time
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from msgx_app.simulator import big_schedule
from msgx_app.simulator.big import MAX_BYTES
from msgx_core.model import sis


def test_four_thousand_flights_just_under_ten_mebibytes() -> None:
    began = time.perf_counter()
    raw = big_schedule()
    took_s = time.perf_counter() - began
    assert MAX_BYTES - 2048 < len(raw) < MAX_BYTES
    root = ET.fromstring(raw)
    records = root.findall("SCHD/FLTR")
    assert root.findtext("SCHD/RECS") == "4000"
    assert len(records) == len({r.findtext("FLID") for r in records}) == 4000
    for tag, collection in sis.COLLECTIONS.items():
        counts = [len(r.findall(tag)) for r in records]
        assert sum(counts) > 400, tag
        assert collection.limit is None or max(counts) <= collection.limit
    assert took_s < 30


@example(29, 8826, -1084)
@given(st.integers(1, 60), st.integers(4000, 9000), st.integers())
@settings(max_examples=20, deadline=None)
def test_the_target_is_met_from_below(flights: int, per_flight: int, seed: int) -> None:
    target = 1000 + flights * per_flight
    raw = big_schedule(flights=flights, target_bytes=target, seed=seed)
    assert target - 1024 <= len(raw) <= target
    assert len(ET.fromstring(raw).findall("SCHD/FLTR")) == flights
    assert raw == big_schedule(flights=flights, target_bytes=target, seed=seed)


def test_targets_out_of_reach_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 10000"):
        big_schedule(flights=50, target_bytes=10_000)
    with pytest.raises(ValueError, match="cannot fill"):
        big_schedule(flights=1, target_bytes=10_000_000)
