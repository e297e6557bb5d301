"""A believable airport day from a seed: messages of an AODB for tests, demonstrations and benchmarks."""

from msgx_app.simulator.big import big_schedule
from msgx_app.simulator.day import Simulation, simulate
from msgx_app.simulator.faults import BROKEN, FAULTS
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.plan import SimulatedMessage, SimulationPlan
from msgx_app.simulator.replayer import pace
from msgx_app.simulator.writers import Sender, send_all, write_folder

__all__ = [
    "BROKEN",
    "FAULTS",
    "Flight",
    "Sender",
    "SimulatedMessage",
    "Simulation",
    "SimulationPlan",
    "big_schedule",
    "pace",
    "send_all",
    "simulate",
    "write_folder",
]
