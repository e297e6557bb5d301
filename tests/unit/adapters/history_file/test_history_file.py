"""What only files do: days, torn lines, several processes, a disk that is full (D-33)."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from msgx_adapters.history_file import FileHistory
from msgx_core.errors import ConfigError, Transient
from msgx_core.testing.builders import NOW
from msgx_core.testing.history_contract import record


def test_a_file_for_each_day_of_ending(tmp_path: Path) -> None:
    """D-33: dated JSON lines, UTC."""
    history = FileHistory(tmp_path)
    midnight = datetime(2027, 3, 15, tzinfo=UTC)
    history.write([record(1, ended_at=midnight - timedelta(microseconds=1)), record(2, ended_at=midnight)])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["2027-03-14.jsonl", "2027-03-15.jsonl"]


def test_what_is_read_is_what_was_written_last(tmp_path: Path) -> None:
    """D-33: idempotent by FLID and version, also over days."""
    history = FileHistory(tmp_path)
    history.write([record(1, REMC="a"), record(1, 2)])
    again = record(1, REMC="b", ended_at=NOW + timedelta(days=1))
    history.write([again])
    found = {(r.flid, r.version): r for r in history.read()}
    assert len(list(history.read())) == 2
    assert '"b"' in found[1, 1].document
    assert found[1, 1].ended_at == again.ended_at


def test_a_torn_last_line_is_repaired(tmp_path: Path) -> None:
    """A crash in the middle of a line: it was never confirmed; the next write cuts it off."""
    history = FileHistory(tmp_path)
    history.write([record(1)])
    (path,) = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(b'{"FLID":2,"STATE')
    assert [r.flid for r in history.read()] == [1]
    assert set(history.write([record(3)])) == {3}
    assert [r.flid for r in history.read()] == [1, 3]


def test_two_processes_write_and_remove_at_once(tmp_path: Path) -> None:
    """No record is lost when a file is replaced while another one waits for it."""
    first, second = FileHistory(tmp_path), FileHistory(tmp_path)
    old = NOW - timedelta(hours=1)

    def remove() -> None:
        for _ in range(40):
            second.remove_before(NOW)

    thread = threading.Thread(target=remove)
    thread.start()
    for number in range(1, 81):
        first.write([record(number), record(1_000 + number, ended_at=old)])
    thread.join()
    second.remove_before(NOW)
    assert [r.flid for r in first.read()] == list(range(1, 81))


def test_a_short_write_confirms_nothing_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-395: the disk is full; the half line is taken back."""
    history = FileHistory(tmp_path)
    history.write([record(1)])
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:10]))
    with pytest.raises(Transient):
        history.write([record(2)])
    monkeypatch.undo()
    assert [r.flid for r in history.read()] == [1]


def test_one_file_that_cannot_be_written_keeps_no_other(tmp_path: Path) -> None:
    """D-26: what is on disk is confirmed."""
    history = FileHistory(tmp_path)
    (tmp_path / "2027-03-15.jsonl").mkdir()
    day = timedelta(days=1)
    assert set(history.write([record(1), record(2, ended_at=NOW + day)])) == {1}


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    """A configuration error at start."""
    (tmp_path / "x").write_text("")
    with pytest.raises(ConfigError):
        FileHistory(tmp_path / "x")
