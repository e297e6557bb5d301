"""Every transition of every state machine is taken by the whole system; what is unreached fails the run."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from tests.proof import test_stories_of_flights, test_stories_of_processes, test_stories_of_services
from tests.proof.machine import Proof
from tests.proof.teller import Teller, choices_of

STORIES = (test_stories_of_flights, test_stories_of_processes, test_stories_of_services)


def stories(module: ModuleType) -> list[Callable[[Teller], None]]:
    """The tests of a module: each takes a teller."""
    return [tale for name, tale in vars(module).items() if name.startswith("test_") and callable(tale)]


def test_every_transition_is_taken(over: type[Proof]) -> None:
    """R-106, R-107, R-108, R-109, R-112, R-113, R-114, R-115: seen in the rows of the store.

    The stories that were not told over this store before are told first.
    """
    every = [tale for module in STORIES for tale in stories(module)]
    for tale in (tale for tale in every if tale.__name__ not in over.tally.told):
        teller = Teller(over(), choices_of(getattr(tale, "pytestmark", ())))
        tale(teller)
        teller.teardown()
    assert over.tally.missing() == []
