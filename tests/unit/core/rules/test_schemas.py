"""The schemas that consumers are given are those that the rules make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msgx_core.model.sis import SCALARS, Kind
from msgx_core.rules import schemas
from msgx_core.rules.policy import TimeFormat

FOLDER = Path(__file__).resolve().parents[4] / "docs" / "schemas"


def published(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "title", "made"),
    [
        ("flight.schema.json", "Full state of a flight", schemas.flight_schema),
        ("msg.schema.json", "A value of the topic msg", schemas.notice_schema),
        ("schd.schema.json", "A value of the topic schd", schemas.package_schema),
    ],
)
def test_what_is_published_is_what_is_made(name: str, title: str, made: Any) -> None:
    """D-28 to D-30."""
    assert schemas.document(title, made()) == published(name)


def test_the_channels_are_those_that_are_published() -> None:
    """D-28, D-29: both topics, by the names that they have."""
    told = published("asyncapi.json")
    assert schemas.async_api(told["info"]["version"], "KAFKA_MSG", "KAFKA_SCHD") == told
    other = schemas.async_api("9", "a", "b", TimeFormat.ISO8601)
    assert [channel["address"] for channel in other["channels"].values()] == ["a", "b"]
    package = other["components"]["messages"]["package"]["payload"]
    assert package == schemas.package_schema(TimeFormat.ISO8601)


def test_times_may_be_iso_8601() -> None:
    """D-30: times and nothing else look different."""
    plain = schemas.flight_schema()["properties"]
    iso = schemas.flight_schema(TimeFormat.ISO8601)["properties"]
    differing = {tag for tag in SCALARS if plain[tag] != iso[tag]}
    assert differing == {tag for tag, spec in SCALARS.items() if spec.kind is Kind.TIME}
    assert {iso[tag]["format"] for tag in differing} == {"date-time"}
    gate = iso["GTDT"]["items"]["properties"]
    assert (gate["GOTM"]["format"], gate["GATE"]) == (
        "date-time",
        plain["GTDT"]["items"]["properties"]["GATE"],
    )
    package = schemas.package_schema(TimeFormat.ISO8601)
    assert package["properties"]["SCHD"]["properties"]["FLTR"]["items"]["properties"] == iso
