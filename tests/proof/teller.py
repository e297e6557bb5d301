"""Who tells a story in the words of the model; after each sentence every invariant is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.proof.machine import Proof
from tests.proof.oracle.types import Choices

DAY = 24 * 3600
TODAY, TOMORROW = "14MAR271200", "15MAR271200"


class Teller:
    """Takes the model's rules one after the other and checks the invariants after each."""

    def __init__(self, machine: Proof, choices: Choices) -> None:
        self.machine = machine
        self.an_airport_opens(choices=choices)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        rule = getattr(self.machine, name)

        def told(*args: Any, **more: Any) -> Any:
            result = rule(*args, **more)
            self.machine.all_is_well()
            return result

        return told

    def sends(self, *messages: Any) -> None:
        """Upstream sends these, one after the other, and they are worked on."""
        for sent in messages:
            self.upstream_sends(sent)
        self.work_on(len(messages))

    def fate(self, msg_id: int) -> tuple[str, str | None]:
        """State and reason of a message, as the store has it."""
        row = self.machine.seen.messages[msg_id]
        return row["STATE"], row["REASON"]

    def live(self) -> set[int]:
        """Live flights in the store."""
        return {flid for flid, flight in self.machine.seen.flights.items() if flight.is_live}

    def request(self, request_id: int) -> tuple[str, str | None]:
        """State and reason of a request."""
        found = self.machine.seen.requests[request_id]
        return found.state.value, found.reason


def under(**choices: Any) -> pytest.MarkDecorator:
    """The settings under which a story is told; without it every `FLOP` is let in, all else is as shipped."""
    mark: pytest.MarkDecorator = pytest.mark.under(**choices)
    return mark


def choices_of(marks: Iterable[pytest.Mark]) -> Choices:
    """The settings that the marks of a story name."""
    found = {name: value for mark in marks if mark.name == "under" for name, value in mark.kwargs.items()}
    return Choices(**{"whitelist": "extended", **found})
