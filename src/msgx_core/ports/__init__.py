"""Ports: what the pipeline needs from the outside. The docstrings are the contracts.

`msgx_core.testing` holds one contract suite per port; every adapter passes it unchanged.
"""

from __future__ import annotations

from typing import Protocol

from msgx_core.ports.bus import Bus, BusRecord, Delivery
from msgx_core.ports.cache import Cache, CacheGone, CachePut
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inbox import Inbox, MarkResult
from msgx_core.ports.operations import OperatorStore
from msgx_core.ports.store import LeaseGrant, LeaseView, PipelineStore
from msgx_core.ports.telemetry import Silent, Telemetry


class Store(PipelineStore, OperatorStore, Protocol):
    """What a full store adapter is: the pipeline's side and the people's side."""


__all__ = [
    "Bus",
    "BusRecord",
    "Cache",
    "CacheGone",
    "CachePut",
    "Clock",
    "Codec",
    "Delivery",
    "Inbox",
    "LeaseGrant",
    "LeaseView",
    "MarkResult",
    "OperatorStore",
    "PipelineStore",
    "RawText",
    "Silent",
    "Store",
    "Telemetry",
]
