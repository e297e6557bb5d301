"""One active instance: the lease row and the epoch (D-34)."""

from __future__ import annotations

from msgx_adapters.store_postgres.schema import check
from msgx_adapters.store_postgres.session import NO_EPOCH, Role
from msgx_core.ports.store import LeaseGrant, LeaseView


class LeaseRole(Role):
    """`ports.store.Leases`."""

    def acquire_lease(self, holder: str, expiry_s: float) -> LeaseGrant:
        """Take the lease if it is free, expired or our own; raises the epoch.

        A standby that has slept through an upgrade of the schema does not get to work: `ConfigError`.
        """
        own = NO_EPOCH if self.epoch is None else self.epoch
        (row,) = self.write("acquire_lease", holder=holder, expiry_s=expiry_s, epoch=own)
        view = LeaseView(row["HOLDER"], row["EPOCH"], row["EXPIRES_IN_S"])
        if row["GRANTED"]:
            self.epoch = view.epoch
            self.lease_expiry_s = expiry_s
            # From now on no upgrade begins; the lease of one that does not fit runs out by itself.
            check(self.pool)
        return LeaseGrant(granted=row["GRANTED"], view=view, unclean=row["UNCLEAN"])

    def renew_lease(self, expiry_s: float) -> None:
        """Extend; `Fenced` when another one has taken over."""
        self.fenced("renew_lease", expiry_s=expiry_s)
        self.lease_expiry_s = expiry_s

    def extend_lease(self) -> float:
        """Extend by the expiry that we have; `Fenced` when another one has taken over."""
        self.fenced("renew_lease", expiry_s=self.lease_expiry_s)
        return self.lease_expiry_s

    def release_lease(self) -> None:
        """Give the lease up, if it is still ours."""
        if self.epoch is not None:
            self.write("release_lease", epoch=self.epoch)
        self.epoch = None

    def lease(self) -> LeaseView:
        """Who holds it."""
        (row,) = self.read_rows("lease")
        return LeaseView(row["HOLDER"], row["EPOCH"], row["EXPIRES_IN_S"])
