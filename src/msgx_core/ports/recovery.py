"""The store port for recovery: what an operator does after data beside the store, or its past, was lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from msgx_core.model.change import FlightPut
from msgx_core.ports.operations import Audit

VERSIONS_RAISED = "recover_versions"
"""The audit's action of `raise_versions`; `TARGET`: by how much; `DETAIL` ends with the `APPLY_NO` before."""


@frozen
class Raised:
    """How many flights and floors have been raised, and the `APPLY_NO` after which that was."""

    flights: int
    floors: int
    apply_no: int


class Recovery(Protocol):
    """Needs the lease: every write is fenced. Each call is one transaction and one audit row."""

    def raise_versions(self, by: int, audit: Audit, now: datetime) -> Raised:
        """Add `by` to every `STATE_VERSION`, every version floor and both event counters (D-31).

        Nothing else of a flight changes; events that wait keep their old versions.
        """
        ...

    def republish(self, puts: Sequence[FlightPut], now: datetime) -> None:
        """Write the notice and the document of each put as new events, its flight left as it is.

        Ids go on from the counters (D-27); a document takes the place of the one `schd` row (D-29). No audit.
        """
        ...

    def record(self, action: str, target: int, detail: str | None, audit: Audit, now: datetime) -> None:
        """An audit row for what was done with other methods."""
        ...
