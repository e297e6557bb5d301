"""Outbound rows in memory, for tests and embedding."""

from .outbound import MemoryOutbound, Row

__all__ = ["MemoryOutbound", "Row"]
