"""The pump as the daemon drives it: several heads made ready together."""

from __future__ import annotations

from hypothesis.stateful import rule

from msgx_core.pipeline.pump import Tick
from tests.proof.plant.troubles import Trouble
from tests.proof.steering import TROUBLES, WORK
from tests.proof.walk import Walk


class Bursts(Walk):
    """A walk that also takes several messages in one go."""

    @rule(trouble=TROUBLES)
    def burst(self, trouble: Trouble | None = None) -> None:
        """Each is the head when its turn comes, and ends as it would alone (R-002, R-070 to R-074)."""
        if self.plant.oracle.head() is None:
            self.work("intake", WORK["intake"])
        told, ended = self.plant.oracle.foretell(), self._ended()
        ticked: list[Tick] = []
        if self.work("burst", lambda p: ticked.append(p.pump.burst()), trouble):
            tick = ticked[0]
            assert tick.done == self._ended() - ended
            assert tick.done or tick.kind.value in (told, "failed"), (
                f"{tick.kind.value}, and it must be {told}"
            )

    def _ended(self) -> int:
        return sum(message.is_final for message in self.messages() if message.known)
