"""The archive on fsspec: a folder, or an object store (D-36)."""

from msgx_adapters.archive_fsspec.archive import FsspecArchive

__all__ = ["FsspecArchive"]
