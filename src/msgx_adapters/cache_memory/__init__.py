"""Snapshot cache in memory."""

from .cache import MemoryCache

__all__ = ["MemoryCache"]
