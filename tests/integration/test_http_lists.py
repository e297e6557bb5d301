"""Lists over HTTP: reference data with a search, the schedule log of a day; where all is described."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from http_room import Room, http_room, settings_of
from wire import fltr, reference, schedule

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with http_room(settings_of(tmp_path_factory.mktemp("lists"))) as made:
        made.finish(schedule("DNLD", [fltr(700101)]))
        yield made


def test_reference_data_is_searched_and_goes_on_behind_a_key(room: Room) -> None:
    room.finish(reference("SLST", "DNLD", [f"<SCOD>S{n}</SCOD><SNAM>Stand {n % 2}</SNAM>" for n in range(5)]))

    def keys(query: str) -> list[str]:
        return [row["RKEY"] for row in room.json(f"/api/v1/reference/SLST?{query}")]

    assert keys("find=stand 1") == ["S1", "S3"]
    assert keys("find=stand 0&after=S0&limit=1") == ["S2"]
    answer = room.get("/api/v1/reference/SLST?limit=2&find=stand")
    assert "after=S1" in answer.headers["link"]
    assert "find=stand" in answer.headers["link"]
    for query in ("find=%00", "after=%00", "find=" + "x" * 101):
        assert room.get(f"/api/v1/reference/SLST?{query}").status_code == 422


def test_the_schedule_log_of_a_day_and_with_a_flag(room: Room) -> None:
    everything = room.json("/api/v1/snapshots")
    assert everything
    assert room.json("/api/v1/snapshots?day=2027-03-14") == everything
    assert room.json("/api/v1/snapshots?day=2027-03-15") == []
    assert room.json("/api/v1/snapshots?flag=DAY_MISMATCH") == []
    assert room.get("/api/v1/snapshots?flag=ODD").status_code == 422
    assert room.get("/api/v1/snapshots?day=14MAR27").status_code == 422


@pytest.mark.parametrize(
    "path",
    ["", "/", "/openapi.json", "/openapi.yaml", "/redoc", "/swagger", "/elements", "/rapidoc", "/oauth2"],
)
def test_the_interface_is_described_at_one_address(room: Room, path: str) -> None:
    """As JSON, at ours; nothing answers where the framework would put pages of its own."""
    answer = room.get(f"/schema{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == PROBLEM
    assert room.get("/api/v1/openapi.json").headers["content-type"] == "application/json"
