"""Simulated traffic through a system, and the verification of what came of it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from damage import DAYS
from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_app.simulator import SimulationPlan, simulate
from msgx_core.model.message import DecodedMessage
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.verify import Report, Verifier, Window, ignore
from msgx_core.ports import HistoryRecord, RawText, Store
from msgx_core.ports.operations import Row

DAY = date(2027, 3, 14)


class Keeps:
    """A history store that confirms everything."""

    def write(self, records: Sequence[HistoryRecord]) -> Collection[int]:
        return [record.flid for record in records]

    def remove_before(self, cutoff: datetime) -> int:
        return 0

    def count_before(self, cutoff: datetime) -> int:
        """Nothing would be."""
        return 0

    def ping(self) -> None:
        """It answers."""

    def close(self) -> None:
        """Nothing is open."""


def traffic(days: int, flights: int, *, seed: int = 7, faults: float = 0.01) -> Iterator[bytes]:
    """The messages of so many days, each with its own schedule."""
    seqn = 1
    for number in range(days):
        plan = SimulationPlan(
            seed=seed + number,
            day=DAY + timedelta(days=number),
            flights=flights,
            fault_rate=faults,
            first_seqn=seqn,
        )
        for message in simulate(plan):
            seqn += 1
            yield message.raw


def run(system: System, raws: Iterable[bytes], *, portion: int = 50) -> int:
    """Send and drain in portions, the clock going on between them; how many messages."""
    sent = 0
    messages = iter(raws)
    while some := list(islice(messages, portion)):
        system.clock.advance(60)
        sent += len(system.send(some))
        system.drain()
    return sent


def archived(system: System) -> Callable[[Row], RawText | None]:
    """Texts from the archive alone."""

    def text(row: Row) -> RawText | None:
        assert system.archive is not None
        key = system.archive.find(row["MSG_ID"], row.get("RECEIVED_AT") or row.get("ENQUEUED_AT"))
        return None if key is None else system.archive.get(key)

    return text


def verified(
    system: System,
    window: Window | None = None,
    store: Store | None = None,
    progress: Callable[[int], None] = ignore,
    kept_since: datetime | None = None,
) -> tuple[Report, list[Difference]]:
    """The report, and every difference."""
    found: list[Difference] = []
    read = system.store if store is None else store
    policies = Policies.kept_in(read, system.policy, ZoneInfo)
    assert system.archive is not None
    steps = system.archive.steps
    verifier = Verifier(
        read,
        archived(system),
        system.codec,
        policies,
        found.append,
        progress,
        steps,
        kept_since=kept_since,
    )
    return verifier.run(window), found


def batched(items: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    """Portions of so many."""
    while some := list(islice(items, size)):
        yield some


def decoded_messages() -> int:
    """How many messages are in memory."""
    return sum(isinstance(each, DecodedMessage) for each in gc.get_objects())


def resident_mib() -> int:
    """What the process has in memory now."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    raise AssertionError("no VmRSS")


@contextmanager
def days_system(folder: Path) -> Iterator[System]:
    """A system in which each DNLD covers the day of its records, with an archive and a history store."""
    archive = FsspecArchive.in_folder(folder / "archive")
    with closing_system(folder / "store.db", config=DAYS, archive=archive, history=Keeps()) as made:
        yield made
    archive.close()


def sql(system: System, text: str) -> None:
    """Change the store by hand."""
    with system.store.connection.write():
        system.store.connection.run(text)


def told(found: list[Difference]) -> set[tuple[str, str, str]]:
    """Kind, key and field of each difference."""
    return {(each.kind, each.key, each.field) for each in found}
