"""Event bus as JSON-lines files."""

from .bus import FileBus

__all__ = ["FileBus"]
