"""The archive on fsspec keeps the contract: a folder, and an object store in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import fsspec
import pytest

from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.archive_fsspec.files import Files
from msgx_core.testing.archive_contract import ArchiveContract


class Folder:
    """The archive's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def objects(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.path).as_posix(): path.read_bytes()
            for path in self.path.rglob("*")
            if path.is_file()
        }

    def write(self, key: str, data: bytes) -> None:
        path = self.path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    @contextmanager
    def outage(self) -> Iterator[None]:
        away = self.path.with_suffix(".away")
        self.path.rename(away)
        yield
        assert not self.path.exists(), "nothing is made in place of a mount that is not there"
        away.rename(self.path)


class TestFolder(ArchiveContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Folder:
        return Folder(tmp_path / "archive")

    @pytest.fixture
    def archive(self, place: Folder) -> Iterator[FsspecArchive]:
        made = FsspecArchive.in_folder(place.path)
        yield made
        made.close()


class Bucket:
    """An object store: fsspec's file system in memory, which may be made to fail."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.fs: Any = fsspec.filesystem("memory")

    def objects(self) -> dict[str, bytes]:
        found = self.fs.find(f"/{self.root}")
        return {path.removeprefix(f"/{self.root}/"): self.fs.cat_file(path) for path in found}

    def write(self, key: str, data: bytes) -> None:
        self.fs.pipe_file(f"/{self.root}/{key}", data)

    @contextmanager
    def outage(self) -> Iterator[None]:
        names = ("pipe_file", "cat_file", "exists", "ls", "rm", "rmdir")
        refuse = mock.Mock(side_effect=RuntimeError("503 Slow Down"))
        with mock.patch.multiple(type(self.fs), **dict.fromkeys(names, refuse)):
            yield


class TestBucket(ArchiveContract):
    @pytest.fixture
    def place(self, request: pytest.FixtureRequest) -> Iterator[Bucket]:
        bucket = Bucket(f"bucket-{abs(hash(request.node.nodeid))}")
        yield bucket
        if bucket.fs.exists(f"/{bucket.root}"):
            bucket.fs.rm(f"/{bucket.root}", recursive=True)

    @pytest.fixture
    def archive(self, place: Bucket) -> Iterator[FsspecArchive]:
        made = FsspecArchive(Files.in_memory(place.root))
        yield made
        made.close()
