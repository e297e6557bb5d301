"""From `msgx.archive.url` to an archive (D-36); beside `backends`, the only importer of its adapter."""

from __future__ import annotations

from msgx_app.settings import Settings
from msgx_core.errors import ConfigError
from msgx_core.ports import Archive

WRITING_TIMEOUT_S = 2.0
"""Evidence must not hold a message up."""
READING_TIMEOUT_S = 15.0


def open_archive(
    settings: Settings, *, timeout_s: float = READING_TIMEOUT_S, create: bool = True
) -> Archive | None:
    """The archive of the settings; None: there is none. Who only reads does not `create` its folder.

    Raises `ConfigError` for a package that is missing or a folder that cannot be made.
    """
    url = settings.archive.url
    if url is None:
        return None
    try:
        from msgx_adapters.archive_fsspec import FsspecArchive
    except ModuleNotFoundError as error:
        raise ConfigError(
            (
                f"msgx.archive.url = {url} needs the package {error.name}: pip install 'msgx[archive]',"
                " or set it to off",
            )
        ) from error
    if url.path is not None:
        return FsspecArchive.in_folder(url.path, timeout_s=timeout_s, create=create)
    if url.scheme == "memory":
        return FsspecArchive.in_memory(timeout_s=timeout_s)
    return FsspecArchive.at(url.text, timeout_s=timeout_s)
