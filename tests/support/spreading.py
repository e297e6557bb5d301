"""How `make test` spreads tests over processes: what computes, what waits for servers, what must be alone.

A unit of work runs in one process, in order: a file as a rule (its fixtures are made once), a part of one
where it is long. `-n 0` runs everything in one process, in the order of the files.
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Mapping
from fnmatch import fnmatch

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController


class Company(enum.IntEnum):
    """What may run beside a unit; those of a lower number come first."""

    ANY = 0
    CALM = 1
    """Servers are frozen and killed, or an answer is due in seconds: beside others that mostly wait."""
    NONE = 2
    """What the machine gets done in a time is measured."""


COMPANY: Mapping[str, Company] = {
    "tests/browser/*.py": Company.CALM,
    "tests/crash/test_random_moments.py": Company.NONE,
    "tests/integration/test_console_process.py": Company.CALM,
    "tests/integration/test_console_stream.py": Company.CALM,
    "tests/integration/test_daemon_*.py": Company.CALM,
    "tests/integration/test_http_load.py": Company.NONE,
    "tests/integration/test_http_real.py": Company.CALM,
    "tests/integration/test_kafka_*.py": Company.CALM,
    "tests/integration/test_*_outages.py": Company.CALM,
    "tests/integration/test_real_*.py": Company.CALM,
    "tests/soak/test_short.py": Company.NONE,
    "tests/unit/adapters/store_sqlite/test_speed.py": Company.CALM,
    "tests/unit/app/cli/test_help.py": Company.CALM,
    "tests/unit/app/simulator/test_big_schedule.py": Company.CALM,
}
"""Of all others: any."""

PARTS: Mapping[str, str] = {
    "tests/crash/test_matrix.py": r"\[(?:\d+-)?(.+?)(?:-\d+)?\]$",
    "tests/integration/test_real_outages.py": r"\[(.+)\]$",
    "tests/proof/*.py": r"\[(SQLite|PostgreSQL)\]$",
}
"""Files in which a unit is what the pattern finds in a test's name."""

LONG = (
    "tests/crash/test_kills.py",
    "tests/contract/test_store_postgres.py",
    "tests/integration/test_verify.py",
    "tests/integration/test_demo.py",
    "tests/integration/test_daemon_jobs.py",
    "tests/integration/test_daemon_process.py",
    "tests/integration/test_big_schedule.py",
    "tests/contract/test_store_sqlite.py",
    "tests/proof/test_machine_postgres.py",
    "tests/proof/test_machine_sqlite.py",
    "tests/integration/test_real_instances.py",
    "tests/integration/test_real_requests.py",
    "tests/integration/test_real_pooler.py",
    "tests/integration/test_real_late_writes.py",
    "tests/integration/test_real_history.py",
    "tests/integration/test_postgres_outages.py",
    "tests/integration/test_real_faults_servers.py",
)
"""They begin first among those of their company: one that is long and comes last is waited for."""


def processes() -> int:
    """How many, for `-n auto`: one more than there are cores, as many tests wait; each one costs a start."""
    return min(4, (os.cpu_count() or 1) + 1)


def unit_of(nodeid: str) -> str:
    """The unit of work that a test belongs to."""
    path, _, name = nodeid.partition("::")
    for pattern, part in PARTS.items():
        if fnmatch(path, pattern) and (found := re.search(part, name)):
            return f"{pattern} {found[1]}"
    return path


def company_of(unit: str) -> Company:
    """What may run beside it."""
    return next((what for pattern, what in COMPANY.items() if fnmatch(unit, f"{pattern}*")), Company.ANY)


class Spread(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Hands out units, first the company they bear, then how long they are.

    A process begins its last test when it knows what comes next: so one test of the units before is let pass.
    """

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """The others may have waited for this."""
        super().mark_test_complete(node, item_index, duration)
        for each in self.nodes:
            self._reschedule(each)

    def _assign_work_unit(self, node: WorkerController) -> None:
        unit = min(self.workqueue, key=_order)
        company, others = company_of(unit), [each for each in self.nodes if each is not node]
        if company is Company.NONE and node is not self._last():
            node.shutdown()
        elif all(self._lets(each, company) for each in others):
            self.workqueue.move_to_end(unit, last=False)
            super()._assign_work_unit(node)

    def _last(self) -> WorkerController | None:
        return next((each for each in self.nodes if not each.shutting_down), None)

    def _lets(self, other: WorkerController, company: Company) -> bool:
        work = self.assigned_work[other]
        if company is Company.NONE:
            return bool(self._pending_of(work) == 0)
        loud = {unit: tests for unit, tests in work.items() if company_of(unit) < company}
        return bool(self._pending_of(loud) <= 1)


def _order(unit: str) -> tuple[Company, int]:
    return company_of(unit), LONG.index(unit) if unit in LONG else len(LONG)


__all__ = ["COMPANY", "LONG", "PARTS", "Company", "Spread", "company_of", "processes", "unit_of"]
