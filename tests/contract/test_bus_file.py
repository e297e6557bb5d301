"""The bus in files keeps the contract."""

import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.bus_file import FileBus
from msgx_core.testing.bus_contract import BusContract


class Broker:
    """Reads the files as anyone would: JSON, line by line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names = (f"topic-{n}" for n in itertools.count())

    def topic(self) -> str:
        return next(self._names)

    def records(self, topic: str) -> Sequence[tuple[str | None, Any]]:
        path = self.folder / f"{topic}.jsonl"
        if not path.exists():
            return []
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        return [(line["key"], line["value"]) for line in lines]

    @contextmanager
    def outage(self) -> Iterator[None]:
        away = self.folder.with_suffix(".away")
        self.folder.rename(away)
        yield
        away.rename(self.folder)


class TestFileBus(BusContract):
    @pytest.fixture
    def broker(self, tmp_path: Path) -> Broker:
        return Broker(tmp_path / "bus")

    @pytest.fixture
    def bus(self, broker: Broker) -> FileBus:
        return FileBus(broker.folder)
