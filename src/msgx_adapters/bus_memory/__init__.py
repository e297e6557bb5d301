"""Event bus in memory."""

from .bus import MemoryBus

__all__ = ["MemoryBus"]
