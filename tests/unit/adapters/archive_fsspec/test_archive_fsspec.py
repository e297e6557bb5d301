"""What is special about the archive on fsspec: hanging calls, half objects, missing packages."""

import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest

from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.archive_fsspec.bounded import MOST_HANGING, Bounded
from msgx_adapters.archive_fsspec.files import Files
from msgx_core.errors import ConfigError, Transient

NOON = datetime(2027, 3, 14, 12, 0, tzinfo=UTC)


def test_keys_are_those_of_the_documentation(tmp_path: Path) -> None:
    """D-36: a dated key, padded, bytes and text apart."""
    archive = FsspecArchive.in_folder(tmp_path)
    assert archive.put(12345, NOON, b"<A/>") == "2027/03/14/00000012345.xml.gz"
    assert archive.put(12345, NOON, "<A/>") == "2027/03/14/00000012345.text.xml.gz"
    archive.close()


def test_a_call_that_hangs_is_left_alone() -> None:
    """D-36: a frozen network file system costs the time-out, then nothing, until it is back."""
    bounded, frozen = Bounded("archive"), threading.Event()
    try:
        for _ in range(MOST_HANGING):
            with pytest.raises(Transient, match="no answer within"):
                bounded.call(frozen.wait, 0.01)
        started = time.monotonic()
        with pytest.raises(Transient, match="have not come back"):
            bounded.call(lambda: 1, 5.0)
        assert time.monotonic() - started < 1
    finally:
        frozen.set()
    deadline = time.monotonic() + 10
    while True:
        try:
            assert bounded.call(lambda: 1, 5.0) == 1
            break
        except Transient:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    bounded.close()


def test_many_threads_at_once() -> None:
    """Each gets its own answer."""
    bounded = Bounded("archive")
    found: list[int] = []

    def ask(number: int) -> None:
        for _ in range(50):
            assert bounded.call(lambda: number, 10.0) == number
        found.append(number)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(8))
    bounded.close()


def test_half_an_object_is_never_seen(tmp_path: Path) -> None:
    """D-36: a writer that dies leaves a part beside the place; the clean-up takes it away."""
    archive = FsspecArchive.in_folder(tmp_path)
    with (
        mock.patch("msgx_adapters.archive_fsspec.files.os.replace", side_effect=OSError("killed")),
        pytest.raises(Transient, match="killed"),
    ):
        archive.put(1, NOON, b"<A/>")
    assert archive.find(1) is None
    assert list(archive.read()) == []
    archive.put(2, NOON, b"<B/>")
    assert archive.remove_before(NOON.date().replace(day=15)) == 1
    assert list(tmp_path.iterdir()) == []
    archive.close()


@pytest.mark.parametrize(
    ("url", "package"), [("s3://bucket/prefix", "s3fs"), ("gs://bucket", "gcsfs"), ("az://box", "adlfs")]
)
def test_a_missing_package_is_named(url: str, package: str) -> None:
    """`msgx.archive.url`: what to install, and exit 3, not a traceback."""
    why = ImportError(f"Install {package}")
    with (
        mock.patch("msgx_adapters.archive_fsspec.files.fsspec.get_filesystem_class", side_effect=why),
        pytest.raises(ConfigError, match=f"pip install {package}"),
    ):
        Files.at(url)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """`msgx.archive.url`: at the start, not at the first message."""
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ConfigError, match="cannot be made"):
        FsspecArchive.in_folder(tmp_path / "taken" / "archive")
