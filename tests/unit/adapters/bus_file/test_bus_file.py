"""What is particular to the bus in files: crashes, other processes, disks that are full."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

import msgx_adapters
from msgx_adapters.bus_file import FileBus
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery

MSG = BusRecord("msg", "1", b'{"n":1}')
LINE = b'{"key":"1","value":{"n":1}}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "bus"


@pytest.fixture
def bus(folder: Path) -> FileBus:
    return FileBus(folder, max_bytes=1_000, timeout_s=0.1)


def test_lines_are_compact_utf8(bus: FileBus, folder: Path) -> None:
    """D-28: one line whatever the value looks like, readable by people."""
    assert bus.publish([BusRecord("msg", None, '{\n "APNM": "\\u5317京",\n "FLID": 7}'.encode())]) == [
        Delivery()
    ]
    assert (folder / "msg.jsonl").read_bytes() == '{"key":null,"value":{"APNM":"北京","FLID":7}}\n'.encode()
    assert list(bus.read("msg")) == [BusRecord("msg", None, '{"APNM":"北京","FLID":7}'.encode())]


@pytest.mark.parametrize(
    "value", [b"", b"{", b"NaN", b'{"a":-Infinity}', b"\xff", b'"\\ud800"', b"1 2", b"[" * 900]
)
def test_what_is_no_json_is_refused(bus: FileBus, value: bytes) -> None:
    bad = BusRecord("msg", "1", value)
    assert bus.publish([MSG, bad, MSG]) == [Delivery(), Delivery("refused:not-json"), Delivery()]
    assert list(bus.read("msg")) == [MSG, MSG]


def test_what_is_nested_too_deeply_is_refused(folder: Path) -> None:
    bad = BusRecord("msg", "1", b"[" * 200_000 + b"]" * 200_000)
    assert FileBus(folder).publish([bad]) == [Delivery("refused:not-json")]


def test_what_is_too_large_is_refused(bus: FileBus) -> None:
    """D-29."""
    assert bus.publish([BusRecord("msg", "1", b" " * 1_000 + b"1")]) == [Delivery("too-large")]


@pytest.mark.parametrize("topic", ["", ".", "..", "../msg", "a/b", ".hidden", "a\n", "a\0b", "x" * 250])
def test_a_topic_that_is_no_file_name_is_refused(bus: FileBus, folder: Path, topic: str) -> None:
    assert bus.publish([BusRecord(topic, "1", b"1"), MSG]) == [Delivery("refused:topic"), Delivery()]
    assert [path.name for path in folder.iterdir()] == ["msg.jsonl"]
    assert [path.name for path in folder.parent.iterdir()] == ["bus"]


@pytest.mark.parametrize("torn", [b'{"key":"1","va', b"x" * 200_000, b"\n{", b""])
@pytest.mark.parametrize("whole", [0, 1, 3])
def test_a_half_line_is_cut_off_at_the_next_start(folder: Path, whole: int, torn: bytes) -> None:
    """R-355: a crash while writing leaves whole lines only."""
    folder.mkdir(parents=True)
    expected = LINE * whole + (b"\n" if torn.startswith(b"\n") else b"")
    (folder / "msg.jsonl").write_bytes(LINE * whole + torn)
    FileBus(folder)
    assert (folder / "msg.jsonl").read_bytes() == expected


def test_a_half_line_of_another_process_is_cut_off_as_well(bus: FileBus, folder: Path) -> None:
    bus.publish([MSG])
    with (folder / "msg.jsonl").open("ab") as file:
        file.write(b'{"key"')
    assert list(bus.read("msg")) == [MSG]
    bus.publish([MSG])
    assert (folder / "msg.jsonl").read_bytes() == LINE * 2


def test_a_topic_without_records_reads_empty(bus: FileBus) -> None:
    assert list(bus.read("msg")) == []


def test_one_write_and_one_sync_confirm_a_batch(bus: FileBus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.publish([MSG])
    calls: list[str] = []
    real_write, real_fsync = os.write, os.fsync

    def write(file: int, lines: bytes) -> int:
        calls.append("write")
        return real_write(file, lines)

    def fsync(file: int) -> None:
        calls.append("fsync")
        real_fsync(file)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", fsync)
    bus.publish([MSG] * 10)
    assert calls == ["write", "fsync"]


def test_a_full_disk_leaves_no_half_line(bus: FileBus, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-04: nothing is confirmed, and what was written of it is taken back."""
    bus.publish([MSG])
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, lines: write(file, lines[: len(lines) // 2]))
    with pytest.raises(Transient, match="could be written"):
        bus.publish([MSG, MSG])
    monkeypatch.undo()
    assert (folder / "msg.jsonl").read_bytes() == LINE
    assert bus.publish([MSG]) == [Delivery()]
    assert (folder / "msg.jsonl").read_bytes() == LINE * 2


def test_what_is_not_on_disk_is_not_confirmed(bus: FileBus, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(Transient, match="Input/output error"):
        bus.publish([MSG])


def test_waiting_for_another_process_is_bounded(bus: FileBus, folder: Path) -> None:
    bus.publish([MSG])
    with (folder / "msg.jsonl").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Transient, match="another process"):
            bus.publish([MSG])
    assert bus.publish([MSG]) == [Delivery()]


WRITER = """
import sys
from msgx_adapters.bus_file import FileBus
from msgx_core.ports.bus import BusRecord
bus = FileBus(sys.argv[1])
for n in range(40):
    bus.publish([BusRecord("msg", sys.argv[2], b'"' + b"x" * 50_000 + b'"') for _ in range(3)])
"""


def test_two_processes_do_not_mix_their_lines(folder: Path) -> None:
    """D-28: the lines of one call stand together."""
    source = str(Path(msgx_adapters.__file__).parents[1])
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), key], env={**os.environ, "PYTHONPATH": source}
        )
        for key in ("a", "b")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    keys = [record.key for record in FileBus(folder).read("msg")]
    assert sorted(keys, key=str) == ["a"] * 120 + ["b"] * 120
    assert all(len(set(keys[n : n + 3])) == 1 for n in range(0, len(keys), 3))


def test_a_moved_file_is_begun_again(bus: FileBus, folder: Path) -> None:
    bus.publish([MSG])
    (folder / "msg.jsonl").rename(folder / "msg.old")
    bus.publish([MSG])
    assert (folder / "msg.jsonl").read_bytes() == LINE


def test_a_place_that_cannot_be_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be used"):
        FileBus(tmp_path / "file")


def test_a_closed_bus_does_not_answer(bus: FileBus) -> None:
    bus.close()
    with pytest.raises(Transient, match="closed"):
        bus.publish([MSG])
