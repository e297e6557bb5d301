"""The SQL of the mailbox, with the owner's table and column names filled in (wire.md)."""

from __future__ import annotations

from attrs import frozen

from msgx_adapters.mysql_link import filled, quoted

_COLUMN = "msgx.mailbox.column.inbound-{}"
TABLE_SETTING = "msgx.mailbox.table.inbound"


@frozen
class Columns:
    """Names of the columns that we use."""

    id: str = "CMINMSGS_ID"
    text: str = "CMINMSGS_CLOB_MSG"
    received: str = "CMINMSGS_DATE_RECEIVED"
    processed: str = "CMINMSGS_DATE_PROCESSED"

    def settings(self) -> dict[str, tuple[str, str]]:
        """By place in the SQL: the setting that names the column, and the name."""
        names = {"id": self.id, "text": self.text, "received": self.received, "processed": self.processed}
        return {place: (_COLUMN.format(place), name) for place, name in names.items()}


@frozen
class Statements:
    """The statements of the mailbox, one `.sql` file each."""

    scan: str
    received: str
    fetch: str
    fetch_small: str
    mark: str
    marked: str
    ping: str
    limit: str
    send_text: str
    send_bytes: str

    @classmethod
    def load(cls, table: str, columns: Columns) -> Statements:
        """Read the files and fill in the names; `ConfigError` for what is not a plain name."""
        names = quoted({"table": (TABLE_SETTING, table)} | columns.settings())
        return cls(**{each: filled(__package__, each, names) for each in cls.__annotations__})
