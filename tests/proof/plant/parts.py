"""Parts of the plant: how it asks for data, its configuration, a history store that may confirm nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from attrs import define, field

from msgx_core.model.schedule import DnldCoverage
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports import HistoryRecord, Store
from msgx_core.rules.policy import MissingFlight, Policy
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy
from tests.proof.oracle import messages as told
from tests.proof.oracle import outbox, writeback
from tests.proof.oracle.types import Choices

SHANGHAI = ZoneInfo("Asia/Shanghai")


class Books(Protocol):
    """Where the data are: how a process opens them, how a test reads them, and the clock of their lease."""

    def open(self) -> Store:
        """A store as a process that starts has it, on the same data."""
        ...

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows through a connection of the test's own, names in upper case."""
        ...

    def expire_lease(self) -> None:
        """The lease has run out."""
        ...


@define
class HistoryShelf:
    """A history store in memory that may withhold its confirmation of some flights."""

    kept: dict[tuple[int, int], HistoryRecord] = field(factory=dict)
    withheld: set[int] = field(factory=set)

    def write(self, records: Sequence[HistoryRecord]) -> Collection[int]:
        """Keep all; confirm those that are not withheld."""
        self.kept.update({(r.flid, r.version): r for r in records})
        return {r.flid for r in records} - self.withheld

    def remove_before(self, cutoff: datetime) -> int:
        """Nothing is removed here."""
        return 0

    def count_before(self, cutoff: datetime) -> int:
        """Nothing would be."""
        return 0

    def ping(self) -> None:
        """It is there."""

    def close(self) -> None:
        """Nothing to close."""


def config_of(choices: Choices) -> PipelineConfig:
    """The configuration of the product that the oracle's choices and numbers stand for."""
    policy = Policy(
        airport_zone=SHANGHAI,
        sis_zone=SHANGHAI,
        day_cutover=choices.cutover,
        include_day_boundary=choices.identity_with_day,
        flop_whitelist=whitelist(choices.whitelist),
        missing_flight=MissingFlight.CREATE if choices.create_missing else MissingFlight.SKIP,
        dnld_coverage=DnldCoverage(choices.dnld),
        suppress_unchanged=choices.suppress_unchanged,
    )
    return PipelineConfig(
        policy=policy,
        claim_batch=2,
        retry=RetryPolicy(told.ATTEMPTS, told.BACKOFF),
        event_retry=RetryPolicy(outbox.ATTEMPTS, (outbox.PAUSE,)),
        writeback=WritebackPolicy(
            overdue=writeback.OVERDUE,
            backoff=writeback.PAUSES,
            alert_attempts=writeback.ALERT_AT,
            claim=writeback.CLAIM,
        ),
    )
