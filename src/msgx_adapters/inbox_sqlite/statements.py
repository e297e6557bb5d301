"""The SQL of the mailbox, with the owner's table and column names filled in (wire.md)."""

from __future__ import annotations

import re
from importlib.resources import files

from attrs import frozen

from msgx_core.errors import ConfigError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@frozen
class Columns:
    """Names of the columns that we use."""

    id: str = "CMINMSGS_ID"
    text: str = "CMINMSGS_CLOB_MSG"
    received: str = "CMINMSGS_DATE_RECEIVED"
    processed: str = "CMINMSGS_DATE_PROCESSED"
    status: str = "CMINMSGS_STATUS"


@frozen
class Statements:
    """The statements of the mailbox, one `.sql` file each."""

    schema: str
    check: str
    scan: str
    received: str
    fetch: str
    fetch_small: str
    mark: str
    exists: str
    send: str
    fill: str
    ping: str

    @classmethod
    def load(cls, table: str, columns: Columns) -> Statements:
        """Read the files and fill in the names; `ConfigError` for what is not a plain name."""
        names = {
            "table": table,
            "id": columns.id,
            "text": columns.text,
            "received": columns.received,
            "processed": columns.processed,
            "status": columns.status,
        }
        bad = sorted({name for name in names.values() if not _NAME.fullmatch(name)})
        if bad:
            raise ConfigError(f"{name!r} is not a table or column name" for name in bad)
        # Not "…": SQLite takes an unknown column in double quotes for a text.
        quoted = {key: f"[{name}]" for key, name in names.items()} | {"index": f"[{table}_UNPROCESSED]"}
        return cls(**{each: _read(each).format_map(quoted) for each in cls.__annotations__})


def _read(name: str) -> str:
    return files(__package__).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
