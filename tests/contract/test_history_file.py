"""The history suite on a folder of JSON lines."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.history_file import FileHistory
from msgx_core.testing.history_contract import HistoryContract


class Folder:
    """The files, read by other means than the adapter; the last line of a record counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def records(self) -> Mapping[tuple[int, int], Mapping[str, Any]]:
        lines = [
            json.loads(line)
            for path in sorted(self.path.glob("*.jsonl"))
            for line in path.read_text(encoding="utf-8").splitlines()
        ]
        return {(line["FLID"], line["STATE_VERSION"]): line for line in lines}

    @contextmanager
    def outage(self) -> Iterator[None]:
        aside = self.path.with_suffix(".aside")
        self.path.rename(aside)
        self.path.write_text("in the way")
        try:
            yield
        finally:
            self.path.unlink()
            aside.rename(self.path)


@pytest.fixture
def server(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "history")


@pytest.fixture
def history(server: Folder) -> Iterator[FileHistory]:
    made = FileHistory(server.path)
    yield made
    made.close()


class TestFileHistory(HistoryContract):
    pass
