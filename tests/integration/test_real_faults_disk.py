"""Disks that are full, and have room again: of the store, and of everything on the embedded set (D-04)."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from msgx_core.ports.operations import MessageFilter
from processes import embedded_folder, opened, run_msgx
from real_set import TIMEOUTS, real_set
from services import base, postgres
from services.small_disk import SmallDisk, small_disk
from under_load import Load
from wire import flop, fltr, gate, schedule

SLOTS = "SELECT tablename FROM pg_tables WHERE schemaname = 'msgx'"
INDEXES = "SELECT indexname FROM pg_indexes WHERE schemaname = 'msgx'"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 16) as made:
        yield made


@pytest.fixture
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Load, SmallDisk]]:
    """The tables of the store are on a disk of their own, its log and the rest are not."""
    with real_set(tmp_path_factory.mktemp("disk"), **TIMEOUTS) as real:
        place = Path(real.postgres.folder) / "small"
        with small_disk(place, 32, base.unprivileged("postgres")) as disk:
            with closing(postgres.connect(real.postgres.url)) as dba:
                dba.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
                for (name,) in dba.execute(SLOTS).fetchall():
                    dba.execute(f"ALTER TABLE msgx.{name} SET TABLESPACE small")
                for (name,) in dba.execute(INDEXES).fetchall():
                    dba.execute(f"ALTER INDEX msgx.{name} SET TABLESPACE small")
            yield Load(real), disk


def test_the_disk_of_the_store_is_full_under_load(load: tuple[Load, SmallDisk]) -> None:
    """D-04: SQLSTATE 53100 is an outage of the store: nothing is counted, nothing lost, and it goes on."""
    made, disk = load
    with made.daemon() as daemon:
        with made.coming():
            time.sleep(0.5)
            disk.fill()
            made.is_noticed("store")
            time.sleep(0.5)
            disk.clear()
            time.sleep(0.5)
        made.check()
        assert daemon.poll() is None


def test_the_disk_of_the_embedded_set_is_full(disk: SmallDisk, tmp_path: Path) -> None:
    """D-04: a drain says which service it is and exits 4; with room again the next one ends as undisturbed.

    Store, mailbox, bus and archive are on the same disk; what was half written is not there.
    """
    config = embedded_folder(tmp_path / "undisturbed")
    raws = [
        schedule("DNLD", [fltr(n) for n in range(1, 60)]),
        *[flop(1, "GTDT", gate(f"B{n}")) for n in range(40)],
    ]
    with opened(config) as container:
        for raw in raws:
            container.inbox.send(raw)
    full = Path(shutil.copytree(config.parent, disk.folder / "full")) / "msgx.toml"
    assert run_msgx(config, "drain").code == 0
    disk.fill()
    drained = run_msgx(full, "drain", "--json")
    assert drained.code == 4, (drained.out, drained.err)
    assert "Traceback" not in drained.err
    disk.clear()
    again = run_msgx(full, "drain", "--json")
    assert again.code == 0, (again.out, again.err)
    assert _left(full) == _left(config)


def _left(config: Path) -> tuple[list[object], list[object], list[tuple[str, int]]]:
    """Flights, fates, and notices on the bus."""
    with opened(config) as container:
        flights = [(f.flid, f.status, f.version, dict(f.fields)) for f in container.store.flights(limit=1000)]
        rows = container.store.messages(MessageFilter(limit=1000))
        fates = [(row["MSG_ID"], row["STATE"], row["ATTEMPTS"]) for row in rows]
        assert list(container.inbox.scan(0, 1000)) == []
    return [*flights], [*fates], _notices(config)


def _notices(config: Path) -> list[tuple[str, int]]:
    """Key and `EVENT_ID` of what is on the bus, each once, in order; every line is whole."""
    lines = (config.parent / "data" / "bus" / "KAFKA_MSG.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return list(dict.fromkeys((record["key"], record["value"]["EVENT_ID"]) for record in records))
