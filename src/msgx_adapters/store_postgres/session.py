"""What the roles of a store share: the connections, the statements and the epoch held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import JSONEncoder
from typing import Any

from msgx_adapters.store_postgres.link import Row
from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.statement import Statement
from msgx_adapters.store_postgres.values import Plain
from msgx_core.errors import Rejected
from msgx_core.model.alert import Alert

NO_EPOCH = -1
"""Sent by an instance that never had the lease: no store is at it."""

_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False, default=dict).encode


def json_of(value: object) -> Plain:
    """A value as a parameter of type `jsonb`; mappings of any kind become objects."""
    try:
        return Plain(_encode(value).encode())
    except UnicodeEncodeError as error:
        raise Rejected("store-rejected:text-not-unicode", str(error)) from error


class Role:
    """Base of the roles. `epoch` is what this object may write under; None before the lease (D-34)."""

    pool: Pool
    sql: Mapping[str, Statement]
    epoch: int | None = None
    lease_expiry_s: float = 0.0

    def fenced(self, name: str, /, **values: Any) -> list[Row]:
        """Run a statement that takes our epoch; `Fenced` when the store is at another one."""
        epoch = NO_EPOCH if self.epoch is None else self.epoch
        return self.pool.rows(self.sql[name], {**values, "epoch": epoch}, epoch=self.epoch)

    def write(self, name: str, /, **values: Any) -> list[Row]:
        """Run a statement that changes something and needs no lease."""
        return self.pool.rows(self.sql[name], values)

    def read_rows(self, name: str, /, **values: Any) -> list[Row]:
        """Run a statement that only reads: in one snapshot, and again if the connection was lost."""
        return self.pool.rows(self.sql[name], values, again=True)


def alerts_json(alerts: Sequence[Alert]) -> Plain:
    """Alerts for `INSERT_ALERTS`."""
    return json_of(alert_objects(alerts))


def alert_objects(alerts: Sequence[Alert]) -> list[dict[str, Any]]:
    """Alerts as JSON objects."""
    return [{"code": a.code.value, "msg_id": a.msg_id, "flid": a.flid, "detail": a.detail} for a in alerts]
