"""What a pipeline is made with besides its ports: numbers and names, and the parts it may do without."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from attrs import field, frozen

from msgx_core.pipeline.requests import RequestPolicy
from msgx_core.pipeline.retention import RetentionPolicy
from msgx_core.ports import Archive, History, Outbound, Silent, Telemetry
from msgx_core.rules.ended import EndedWindows
from msgx_core.rules.policy import Policy
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy


@frozen
class PipelineConfig:
    """Numbers and names of a pipeline; defaults are those of the parameters.

    The zones of `policy` are not: they are UTC until the airport's are given.
    """

    policy: Policy = field(factory=Policy)
    retry: RetryPolicy = field(factory=RetryPolicy)
    event_retry: RetryPolicy = field(factory=RetryPolicy)
    writeback: WritebackPolicy = field(factory=WritebackPolicy)
    claim_batch: int = 200
    event_batch: int = 500
    schd_flush_limit: int = 200
    schd_records_per_message: int = 200
    topic_msg: str = "KAFKA_MSG"
    topic_schd: str = "KAFKA_SCHD"
    mailbox_write_enabled: bool = True
    requests: RequestPolicy = field(factory=RequestPolicy)
    ended: EndedWindows = field(factory=EndedWindows)
    retention: RetentionPolicy = field(factory=RetentionPolicy)


@frozen
class Extras:
    """Parts that a pipeline may do without.

    No `outbound`: no request is sent. No `history`: no flight is removed. No `archive`: no text is kept.
    `sweep_turn` lets one history sweep at a time run, where those by the clock and those as jobs have a
    thread each.
    """

    telemetry: Telemetry = field(factory=Silent)
    outbound: Outbound | None = None
    history: History | None = None
    archive: Archive | None = None
    sweep_turn: AbstractContextManager[object] = field(factory=nullcontext)


@frozen
class DrainReport:
    """What a drain did. `waiting_msg_id` is a head that waits for its next attempt."""

    taken_in: int
    finished: int
    written_back: int
    events_sent: int
    waiting_msg_id: int | None = None
    stopped: bool = False
    requests_sent: int = 0
