"""Mailbox in memory, for tests and embedding."""

from .inbox import MemoryInbox, Row

__all__ = ["MemoryInbox", "Row"]
