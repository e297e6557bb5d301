"""Outbound rows in the SQLite mailbox file."""

from .outbound import Columns, SqliteOutbound

__all__ = ["Columns", "SqliteOutbound"]
