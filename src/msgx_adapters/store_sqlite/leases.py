"""One active instance: the lease row and the epoch (D-34)."""

from __future__ import annotations

from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.schema import check_inside
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_core.ports.store import LeaseGrant, LeaseView


class LeaseRole(Role):
    """`ports.store.Leases`."""

    def acquire_lease(self, holder: str, expiry_s: float) -> LeaseGrant:
        """Take the lease if it is free, expired or our own; raises the epoch.

        A standby that has slept through an upgrade of the schema does not get to work: `ConfigError`.
        """
        with self.db.write():
            check_inside(self.db)
            before = _view(self.db)
            if before.holder not in {None, holder} and before.expires_in_s > 0:
                return LeaseGrant(granted=False, view=before)
            # A holder that takes its own lease again has not crashed.
            unclean = before.holder is not None and self.epoch != before.epoch
            epoch = int(self.db.value(SQL["raise_epoch"]))
            self.db.run(SQL["take_lease"], {"holder": holder, "expiry_s": expiry_s})
            view = _view(self.db)
        self.epoch = epoch
        self.lease_expiry_s = expiry_s
        return LeaseGrant(granted=True, view=view, unclean=unclean)

    def renew_lease(self, expiry_s: float) -> None:
        """Extend; `Fenced` when another one has taken over."""
        with self.fenced():
            self.db.run(SQL["extend_lease"], {"expiry_s": expiry_s})
        self.lease_expiry_s = expiry_s

    def extend_lease(self) -> float:
        """Extend by the expiry that we have; `Fenced` when another one has taken over."""
        self.renew_lease(self.lease_expiry_s)
        return self.lease_expiry_s

    def release_lease(self) -> None:
        """Give the lease up, if it is still ours."""
        with self.db.write():
            if self.epoch == _view(self.db).epoch:
                self.db.run(SQL["release_lease"])
        self.epoch = None

    def lease(self) -> LeaseView:
        """Who holds it."""
        with self.reader.read():
            return _view(self.reader)


def _view(db: Connection) -> LeaseView:
    row = db.rows(SQL["lease"])[0]
    return LeaseView(row["HOLDER"], row["EPOCH"], row["EXPIRES_IN_S"])
