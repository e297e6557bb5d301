"""How often what is tried: troubles, pauses, and rules that stand there several times."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

from msgx_core.pipeline.pipeline import Pipeline
from tests.proof.plant.troubles import MEANWHILE, Crash, Meanwhile, NoAnswer, Takeover, Trouble
from tests.proof.walk import Walk

SERVICES = ("mailbox", "cache", "bus", "store", "history")
PAUSES = (1, 6, 16, 130, 31 * 60, 24 * 3600, 3 * 24 * 3600, 8 * 24 * 3600)
PICKS = st.integers(0, 9)
TROUBLES: st.SearchStrategy[Trouble | None] = st.one_of(
    st.none(),
    st.none(),
    st.none(),
    st.builds(Crash, st.integers(0, 6)),
    st.builds(Takeover, st.integers(0, 6), st.integers(0, 2)),
    st.builds(Meanwhile, st.integers(0, 4), st.sampled_from(MEANWHILE)),
    st.builds(NoAnswer, st.integers(0, 3), st.booleans()),
)
WORK: dict[str, Callable[[Pipeline], object]] = {
    "intake": lambda p: p.intake.scan(),
    "tick": lambda p: p.pump.tick(),
    "burst": lambda p: p.pump.burst(),
    "write-back": lambda p: p.writeback.sweep(),
    "notices": lambda p: p.msg_relay.run_once(),
    "states": lambda p: p.schd_relay.run_once(),
    "requests": lambda p: p.requests.run(),
    "sweep": lambda p: p.sweep.run(),
}

OFTEN = {"upstream_sends": 7, "work_on": 6, "tick": 5, "burst": 5, "time_passes": 3}
OFTEN |= dict.fromkeys(["write_back", "relay_notices", "relay_states", "people_replay", "sweep"], 2)


def weighted(machine: type[Walk]) -> type[Walk]:
    """Rules that are to be taken more often stand there several times."""
    for name, times in OFTEN.items():
        for n in range(1, times):
            setattr(machine, f"{name}_{n}", getattr(machine, name))
    return machine
