"""The lease as a permit to write into the mailbox, which knows no epoch (D-34)."""

from __future__ import annotations

from datetime import datetime, timedelta

from attrs import frozen

from msgx_core.ports.store import Leases

_SHARE = 0.9
"""Of the lease: the rest is for two clocks that do not run alike and for a statement that has just begun."""


@frozen
class LeasePermit:
    """A `Permit`: until the lease, extended for this, can be another's.

    The lease is asked for after the mailbox's clock was read, so it lasts that long from that reading on,
    whatever holds us up in between: a write that begins within that time is before any takeover.
    """

    store: Leases

    def __call__(self, read_at: datetime) -> datetime:
        """Until when a write may begin. Raises `Fenced` when another instance has taken over."""
        return read_at + timedelta(seconds=self.store.extend_lease() * _SHARE)
