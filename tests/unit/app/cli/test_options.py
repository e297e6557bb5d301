"""The options that all commands have."""

from __future__ import annotations

import pytest
import typer

from msgx_app.answers.previews import changes
from msgx_app.cli.options import audit, parse_sets
from msgx_core.model.flight import FlightState, FlightStatus
from msgx_core.model.message import Node
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import node_xml
from msgx_core.testing.clock import ManualClock


def test_sets_are_split_at_the_first_equals_sign() -> None:
    found = parse_sets(["msgx.bus.url=kafka://h:1", "a = b=c ", "a=d"])
    assert found == {"msgx.bus.url": "kafka://h:1", "a": "d"}


@pytest.mark.parametrize("text", ["", "x", "=x"])
def test_what_is_no_assignment_is_a_usage_error(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="KEY=VALUE"):
        parse_sets([text])


def test_the_audit_names_the_user_or_who_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "li")
    assert audit(None, "why").actor == "li"
    assert audit("wang", "why").actor == "wang"


def test_changes_between_two_states() -> None:
    at = ManualClock().now()
    before = FlightState(7, FlightStatus.ACTIVE, 1, None, {"STND": "1", "FLNO": "Q1"}, 5, at, at)
    after = FlightState(7, FlightStatus.DELETED, 2, None, {"FLNO": "Q1", "GTDT": ({"GATE": "B"},)}, 6, at, at)
    assert changes(before, after, Policy()) == [
        {"TAG": "STATE", "BEFORE": "ACTIVE", "AFTER": "DELETED"},
        {"TAG": "GTDT", "BEFORE": None, "AFTER": ({"GATE": "B"},)},
        {"TAG": "STND", "BEFORE": "1", "AFTER": None},
    ]
    assert {c["TAG"]: c["AFTER"] for c in changes(None, before, Policy())} == {
        "STATE": "ACTIVE",
        "STND": "1",
        "FLNO": "Q1",
    }


def test_reference_xml_keeps_everything() -> None:
    node = Node(
        "R",
        "a & b",
        {"X": 'quote " and\nline'},
        (Node("K", "1"), Node("E"), Node("#text", "<tail>"), Node("K", "首航")),
    )
    assert node_xml(node) == (
        '<R X="quote &quot; and&#10;line">a &amp; b<K>1</K><E/>&lt;tail&gt;<K>首航</K></R>'
    )
