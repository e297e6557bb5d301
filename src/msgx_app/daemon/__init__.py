"""The daemon: one process, one thread per loop, a lease before anything moves (D-34)."""

from msgx_app.daemon.heartbeats import Beat, Heartbeats
from msgx_app.daemon.monitor import Monitor, Phase, PhaseView
from msgx_app.daemon.run import DaemonEnd, run_daemon
from msgx_app.daemon.serving import serve

__all__ = [
    "Beat",
    "DaemonEnd",
    "Heartbeats",
    "Monitor",
    "Phase",
    "PhaseView",
    "run_daemon",
    "serve",
]
