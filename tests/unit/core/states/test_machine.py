"""A state machine as such: what a table of steps means (IMP §3)."""

from __future__ import annotations

import enum

import pytest

from msgx_core.states.machine import IllegalTransition, Machine, Transition, rows


class Light(enum.Enum):
    """States; nothing leads to BROKEN."""

    RED = "red"
    GREEN = "green"
    AMBER = "amber"
    OFF = "off"
    BROKEN = "broken"


class Sign(enum.Enum):
    """Events."""

    GO = "go"
    STOP = "stop"
    END = "end"


TABLE = (
    *rows("a", Sign.GO, ((Light.RED, Light.GREEN),)),
    *rows(
        "b", Sign.STOP, ((Light.GREEN, Light.AMBER), (Light.AMBER, Light.RED), (Light.BROKEN, Light.BROKEN))
    ),
    *rows("c", Sign.END, ((Light.RED, Light.OFF),)),
)
LIGHT = Machine("light", frozenset({Light.RED}), frozenset({Light.OFF}), TABLE)


def test_rows_are_steps_of_one_event_under_one_rule() -> None:
    """In the order given, each with all its parts."""
    assert rows("b", Sign.STOP, ((Light.GREEN, Light.AMBER), (Light.AMBER, Light.RED))) == (
        Transition(Light.GREEN, Sign.STOP, Light.AMBER, "b"),
        Transition(Light.AMBER, Sign.STOP, Light.RED, "b"),
    )


@pytest.mark.timeout(10)
def test_what_can_be_reached() -> None:
    """Over several steps and round a circle; a state that only leads to itself is not reached."""
    assert LIGHT.reachable() == {Light.RED, Light.GREEN, Light.AMBER, Light.OFF}
    assert Machine("x", frozenset({Light.BROKEN}), frozenset(), TABLE).reachable() == {Light.BROKEN}
    assert Machine("x", frozenset({Light.OFF}), frozenset(), TABLE).reachable() == {Light.OFF}


def test_a_step_and_its_refusal() -> None:
    """Of each pair `next`, `allows` and `sources` say the same; a refusal names machine, event and state."""
    assert LIGHT.next(Light.GREEN, Sign.STOP) is Light.AMBER
    assert LIGHT.allows(Light.GREEN, Sign.STOP)
    assert not LIGHT.allows(Light.GREEN, Sign.GO)
    assert LIGHT.sources(Sign.STOP) == {Light.GREEN, Light.AMBER, Light.BROKEN}
    with pytest.raises(IllegalTransition, match=r"^light: no go in green$"):
        LIGHT.next(Light.GREEN, Sign.GO)
