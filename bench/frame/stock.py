"""The messages that are measured: those of the simulator, ready to be sent as often as need be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import count

from attrs import frozen

from msgx_app.simulator import SimulationPlan, simulate

_SEQN = re.compile(rb"<SEQN>[^<]*</SEQN>")
_DTTM = re.compile(rb"<DTTM>([^<]*)</DTTM>")
_SEED = 1
_DAY = date(2027, 3, 14)


@frozen
class Stock:
    """`setup` brings all flights there are: reference lists, the schedule, added flights. Then come `flops`.

    All are of one sender with rising `SEQN` and a `DTTM` that does not go back, as from a real AODB.
    """

    setup: tuple[bytes, ...]
    _flops: tuple[bytes, ...]

    @classmethod
    def of(cls, flights: int) -> Stock:
        """A day with so many flights in its schedule, without faults and deletions."""
        plan = SimulationPlan(seed=_SEED, day=_DAY, flights=flights, fault_rate=0)
        setup: list[bytes] = []
        flops: list[bytes] = []
        scheduled = False
        for message in simulate(plan):
            kind = message.name.split("-", 1)[1]
            if kind.startswith("flop-"):
                if kind != "flop-fdel":
                    flops.append(message.raw)
            elif kind != "schd-dnld" or not scheduled:
                scheduled = scheduled or kind == "schd-dnld"
                setup.append(message.raw)
        return cls(tuple(_renumbered(setup, _dttm(setup[0]))), tuple(flops))

    def flops(self, wanted: int, skip: int = 0) -> list[bytes]:
        """So many `FLOP` messages behind the first `skip`; after the last the day begins anew."""
        return [self._flop(number) for number in range(skip, skip + wanted)]

    def _flop(self, number: int) -> bytes:
        rounds, place = divmod(number, len(self._flops))
        raw = self._flops[place]
        dttm = _dttm(raw if not rounds else self._flops[-1])
        return _stamped(raw, len(self.setup) + 1 + number, dttm)


def _renumbered(raws: list[bytes], dttm: bytes) -> Iterator[bytes]:
    return (_stamped(raw, seqn, dttm) for raw, seqn in zip(raws, count(1)))


def _stamped(raw: bytes, seqn: int, dttm: bytes) -> bytes:
    return _DTTM.sub(b"<DTTM>%s</DTTM>" % dttm, _SEQN.sub(b"<SEQN>%d</SEQN>" % seqn, raw, count=1), count=1)


def _dttm(raw: bytes) -> bytes:
    found = _DTTM.search(raw)
    if found is None:
        raise ValueError("a message without DTTM")
    return found[1]
