"""The daemon keeps evidence and cleans it up; without an archive there is no such loop (D-36)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from msgx_app.daemon.loops import ARCHIVE_INTERVAL_S, Part, parts_of
from msgx_core.errors import Transient
from msgx_core.ports import LeaseGrant
from processes import memory_settings, served

ON = {"msgx.archive.url": "memory:"}


def parts(daemon: object, grant: LeaseGrant) -> dict[str, Part]:
    container = daemon.container  # type: ignore[attr-defined]
    found = parts_of(container, grant, news=lambda: None, stopping=lambda: False)
    return {part.name: part for part in found}


def test_old_days_go_once_an_hour() -> None:
    """`msgx.archive.retention`: 90 days by default; younger ones stay."""
    with served(memory_settings(**ON)) as daemon:
        archive, now = daemon.container.archive, daemon.container.clock.now()
        assert archive is not None
        for days in (0, 89, 91, 200):
            archive.put(days, now - timedelta(days=days), b"x")
        part = parts(daemon, daemon.container.store.acquire_lease("test", 60.0))["archive"]
        assert part.step() == ARCHIVE_INTERVAL_S
        assert sorted(one.msg_id for one in archive.read()) == [0, 89]
        archive.close()
        with pytest.raises(Transient, match="archive"):
            part.step()


def test_without_an_archive_there_is_no_loop() -> None:
    """`msgx.archive.url = off`."""
    with served(memory_settings()) as daemon:
        assert daemon.container.archive is None
        assert "archive" not in parts(daemon, daemon.container.store.acquire_lease("test", 60.0))
