"""What an archive needs of a file system, for a folder and for object stores alike."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import fsspec

from msgx_core.errors import ConfigError, Rejected, Transient

_PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}


class Files:
    """Paths below one root on one fsspec file system. An object is there whole or not at all."""

    def __init__(self, fs: Any, root: str, *, is_folder: bool) -> None:
        self._fs = fs
        self._root = root.rstrip("/")
        self._is_folder = is_folder

    @classmethod
    def in_folder(cls, folder: str, *, create: bool) -> Files:
        """A folder on this machine; with `create` it is made where it is missing."""
        fs = fsspec.filesystem("file", skip_instance_cache=True)
        if create:
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError as error:
                raise ConfigError([f"the archive folder {folder} cannot be made: {error}"]) from error
        return cls(fs, folder, is_folder=True)

    @classmethod
    def in_memory(cls, name: str) -> Files:
        """In the memory of this process."""
        return cls(fsspec.filesystem("memory"), f"/{name}", is_folder=False)

    @classmethod
    def at(cls, url: str, **options: Any) -> Files:
        """An object store; credentials come from where its package looks for them."""
        scheme = url.partition(":")[0]
        package = _PACKAGES.get(scheme, scheme)
        try:
            made = fsspec.get_filesystem_class(scheme)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                [f"an archive at {scheme}: needs the package {package}: pip install {package} ({error})"]
            ) from error
        try:
            fs = made(skip_instance_cache=True, **options)
            root = made._strip_protocol(url)
        except Exception as error:
            raise ConfigError([f"the archive at {scheme}: cannot be used: {error}"]) from error
        return cls(fs, str(root), is_folder=False)

    def write(self, folder: str, name: str, data: bytes) -> None:
        """Put a whole object, in place of the one that was there."""
        if not self._is_folder:
            self._fs.pipe_file(self._path(folder, name), data)
            return
        part = self._path(folder, f".{name}.part")
        try:
            self._fs.pipe_file(part, data)
        except FileNotFoundError:
            self._must_exist()
            self._fs.makedirs(self._path(folder), exist_ok=True)
            self._fs.pipe_file(part, data)
        os.replace(part, self._path(folder, name))

    def read(self, key: str) -> bytes | None:
        """A whole object; None when there is none, `Rejected` when it is no object."""
        try:
            data: bytes = self._fs.cat_file(self._path(key))
        except FileNotFoundError:
            self._must_exist()
            return None
        except (IsADirectoryError, NotADirectoryError) as error:
            raise Rejected("archive-damaged", f"{key}: {error.strerror}") from error
        return data

    def exists(self, key: str) -> bool:
        """Whether there is such an object."""
        found = bool(self._fs.exists(self._path(key)))
        if not found:
            self._must_exist()
        return found

    def names(self, folder: str = "") -> list[str]:
        """What is directly in a folder, without order; nothing when it is not there."""
        self._fs.invalidate_cache()
        try:
            found = self._fs.ls(self._path(folder) if folder else self._root, detail=False)
        except FileNotFoundError:
            self._must_exist()
            return []
        return [str(path).rstrip("/").rpartition("/")[2] for path in found]

    def remove(self, folder: str, names: list[str]) -> None:
        """Remove objects of a folder, and the folder when nothing is left in it."""
        if names:
            self._fs.rm([self._path(folder, name) for name in names])
        while folder:
            with suppress(OSError, NotImplementedError):
                self._fs.rmdir(self._path(folder))
            folder = folder.rpartition("/")[0]

    def ping(self) -> None:
        """Return when it answers and a folder can be written, else raise."""
        if self._is_folder:
            self._must_exist()
            if not os.access(self._root, os.W_OK | os.X_OK):
                raise Transient("archive", f"{self._root} cannot be written")
            return
        self.names()

    def _must_exist(self) -> None:
        """A folder that has gone, such as a mount that is not there, is not an empty archive."""
        if self._is_folder and not os.path.isdir(self._root):
            raise Transient("archive", f"{self._root} is not there")

    def _path(self, *parts: str) -> str:
        return "/".join((self._root, *parts))
