"""Ports: what the pipeline needs from the outside. The docstrings are the contracts.

`msgx_core.testing` holds one contract suite per port; every adapter passes it unchanged.
"""

from __future__ import annotations

from typing import Protocol

from msgx_core.ports.archive import Archive, ArchivedRaw
from msgx_core.ports.bus import Bus, BusRecord, Delivery
from msgx_core.ports.cache import Cache, CacheGone, CachePut
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.history import History, HistoryRecord
from msgx_core.ports.inbox import Inbox, MarkResult
from msgx_core.ports.inspection import Inspection
from msgx_core.ports.jobs import JobAsked, JobDesk, JobWork
from msgx_core.ports.operations import OperatorStore
from msgx_core.ports.outages import Outages
from msgx_core.ports.outbound import Outbound, OutboundRow
from msgx_core.ports.permit import Permit
from msgx_core.ports.recovery import Raised, Recovery
from msgx_core.ports.store import LeaseGrant, LeaseView, PipelineStore
from msgx_core.ports.store_later import Archived, RequestWork, Retention, RetentionCutoffs, Sweeping
from msgx_core.ports.telemetry import Silent, Telemetry
from msgx_core.ports.tokens import ApiRole, ApiToken, ApiTokens


class Store(
    PipelineStore,
    OperatorStore,
    JobDesk,
    ApiTokens,
    RequestWork,
    JobWork,
    Sweeping,
    Retention,
    Recovery,
    Inspection,
    Protocol,
):
    """What a full store adapter is: the pipeline's side and the people's side."""


__all__ = [
    "ApiRole",
    "ApiToken",
    "ApiTokens",
    "Archive",
    "Archived",
    "ArchivedRaw",
    "Bus",
    "BusRecord",
    "Cache",
    "CacheGone",
    "CachePut",
    "Clock",
    "Codec",
    "Delivery",
    "History",
    "HistoryRecord",
    "Inbox",
    "Inspection",
    "JobAsked",
    "JobDesk",
    "JobWork",
    "LeaseGrant",
    "LeaseView",
    "MarkResult",
    "OperatorStore",
    "Outages",
    "Outbound",
    "OutboundRow",
    "Permit",
    "PipelineStore",
    "Raised",
    "RawText",
    "Recovery",
    "RequestWork",
    "Retention",
    "RetentionCutoffs",
    "Silent",
    "Store",
    "Sweeping",
    "Telemetry",
]
