"""The history store as a folder of JSON-lines files, one for each day (IMP §9.3, D-33)."""

from msgx_adapters.history_file.history import FileHistory

__all__ = ["FileHistory"]
