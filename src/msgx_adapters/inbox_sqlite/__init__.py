"""Mailbox in a SQLite file."""

from .inbox import SqliteInbox
from .statements import Columns

__all__ = ["Columns", "SqliteInbox"]
