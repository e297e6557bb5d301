"""Store suite: from one message to the next."""

from __future__ import annotations

import pytest

from msgx_core.errors import Fenced
from msgx_core.model.change import FlightQuery
from msgx_core.model.proc import Holder, Turn
from msgx_core.ports import Store
from msgx_core.testing.builders import NOW, binding, change, enqueue, later
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, message


def _nothing() -> None:
    pass


class TurnContract(StoreContract):
    """`ports.store.Effects.finish_then_bind`."""

    def test_from_one_message_to_the_next(self, held: Store, oracle: Oracle) -> None:
        """R-002, R-039: ③ and the binding of the next, as each by itself; what is done meanwhile may read."""
        enqueue(held, 1, 2, 3)
        read: list[int] = []
        for number in (1, 2):
            held.apply(change(number))
            turn = held.finish_then_bind(
                number,
                binding(number + 1, str(number)),
                later(number),
                lambda: read.append(len(held.read(FlightQuery(flids=frozenset({1}))).flights)),
            )
            assert turn == Turn(done=True, bound=True)
        assert read == [0, 0]
        rows = [message(oracle, number) for number in (1, 2, 3)]
        assert [row["STATE"] for row in rows] == ["SUCCEEDED", "SUCCEEDED", "PENDING"]
        assert [row["IDENTITY_KEY"] for row in rows] == [None, "AODB|FLOP|GTDT|1", "AODB|FLOP|GTDT|2"]
        assert [row["FINISHED_AT"] is None for row in rows] == [False, False, True]

    def test_the_next_is_bound_as_head_or_not_at_all(self, held: Store, oracle: Oracle) -> None:
        """R-031, D-24: one that a late id has overtaken, one whose identity is taken, one behind what has not
        ended."""
        enqueue(held, 2, 3, 4, 5)
        held.apply(change(2))
        enqueue(held, 1)
        assert held.finish_then_bind(2, binding(3, "8"), NOW, _nothing) == Turn(done=True, bound=False)
        held.bind(binding(1, "8"), NOW)
        held.apply(change(1))
        turn = held.finish_then_bind(1, binding(3, "8"), NOW, _nothing)
        assert turn == Turn(done=True, bound=True, holder=Holder(1, "digest-1"))
        assert message(oracle, 3)["IDENTITY_KEY"] is None
        assert held.finish_then_bind(3, binding(4, "9"), NOW, _nothing) == Turn(done=False, bound=False)
        assert message(oracle, 4)["IDENTITY_KEY"] is None

    def test_from_one_message_to_the_next_under_another_epoch(self, held: Store, another: Another) -> None:
        """D-34: neither is done by who does not hold the lease any more."""
        enqueue(held, 1, 2, 3)
        held.apply(change(1))
        held.finish_then_bind(1, binding(2, "8"), NOW, _nothing)
        held.apply(change(2))
        held.release_lease()
        another(held).acquire_lease("another", 60.0)
        with pytest.raises(Fenced):
            held.finish_then_bind(2, binding(3, "9"), NOW, _nothing)
        assert [row.identity_key for row in held.heads(2)] == ["AODB|FLOP|GTDT|8", None]
