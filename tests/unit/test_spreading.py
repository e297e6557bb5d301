"""Tests are spread over processes so that each runs once, and beside nothing that it cannot bear."""

from __future__ import annotations

import random
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from attrs import define, field
from xdist.workermanage import WorkerController

from spreading import COMPANY, LONG, PARTS, Company, Spread, company_of, processes, unit_of

ROOT = Path(__file__).resolve().parents[2]
TESTS = [
    *(f"tests/unit/test_{n}.py::test_{m}" for n in range(9) for m in range(n + 1)),
    *(f"tests/integration/test_real_{n}.py::test_{m}" for n in range(4) for m in range(3)),
    *("tests/integration/test_http_load.py::test_a", "tests/integration/test_http_load.py::test_b"),
    *(
        f"tests/proof/test_stories.py::test_{m}[{over}]"
        for m in range(3)
        for over in ("SQLite", "PostgreSQL")
    ),
    "tests/crash/test_random_moments.py::test_a",
]


@define(eq=False)
class Process:
    """A worker of xdist: it begins its last test when it knows that nothing comes after it, or what."""

    queue: list[int] = field(factory=list)
    shutting_down: bool = False
    gateway: SimpleNamespace = field(factory=lambda: SimpleNamespace(id="process"))

    def send_runtest_some(self, indices: list[int]) -> None:
        """More to do."""
        assert not self.shutting_down
        self.queue += indices

    def shutdown(self) -> None:
        """Nothing more comes."""
        self.shutting_down = True

    @property
    def begins(self) -> bool:
        """Whether it can run its next test."""
        return len(self.queue) > (0 if self.shutting_down else 1)


def spread(tests: list[str], count: int, chance: random.Random) -> list[tuple[str, set[str]]]:
    """Run them, in whatever order the processes are done: each test and what ran beside it."""
    options = SimpleNamespace(loadscopereorder=True)
    config = SimpleNamespace(option=options, getvalue=lambda name: [f"{count}*popen"])
    scheduler, nodes = Spread(cast(pytest.Config, config)), [Process() for _ in range(count)]
    workers: dict[int, Any] = {n: cast(WorkerController, node) for n, node in enumerate(nodes)}
    for worker in workers.values():
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    ran = list[tuple[str, set[str]]]()
    while runs := {n: node.queue[0] for n, node in enumerate(nodes) if node.begins}:
        done = chance.choice(list(runs))
        ran.append((tests[runs[done]], {tests[test] for n, test in runs.items() if n != done}))
        nodes[done].queue.pop(0)
        scheduler.mark_test_complete(workers[done], runs[done])
        if scheduler.tests_finished:
            for node in nodes:
                node.shutdown()
    return ran


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(20))
def test_each_runs_once_and_in_its_company(count: int, seed: int) -> None:
    chance = random.Random(seed)
    tests = chance.sample(TESTS, chance.randint(1, len(TESTS)))
    ran = spread(sorted(tests), count, chance)
    assert sorted(test for test, _ in ran) == sorted(tests)
    beside = {test: {company_of(unit_of(other)) for other in others} for test, others in ran}
    for test, others in beside.items():
        assert company_of(unit_of(test)) is not Company.NONE or not others, test
    loud = [
        test
        for test, others in ran
        if company_of(unit_of(test)) is Company.ANY and Company.CALM in beside[test]
    ]
    assert len(loud) < count, "the last test of each process, no more"


@pytest.mark.parametrize("count", [2, 3])
def test_a_unit_stays_together_and_in_order(count: int) -> None:
    units: dict[str, list[str]] = {}
    for test, _ in spread(TESTS, count, random.Random(count)):
        units.setdefault(unit_of(test), []).append(test)
    assert len(units) > 15
    for unit, tests in units.items():
        assert tests == [test for test in TESTS if unit_of(test) == unit]


def test_what_is_named_is_there() -> None:
    """A file that was given another name would silently lose its place."""
    there = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    for pattern in (*COMPANY, *PARTS, *LONG):
        assert any(fnmatch(path, pattern) for path in there), pattern


def test_parts_of_files() -> None:
    matrix = "tests/crash/test_matrix.py"
    for name in ("test_a_crash_at_every_boundary[FLOP gate]", "test_a_crash_in_recovery_too[FLOP gate-1]"):
        assert unit_of(f"{matrix}::{name}") == f"{matrix} FLOP gate"
    assert unit_of(f"{matrix}::test_every_boundary_is_passed_by_some_kind") == matrix
    outage = "tests/integration/test_real_outages.py"
    assert company_of(unit_of(f"{outage}::test_x[store-frozen]")) is Company.CALM


def test_there_is_one_process_at_least() -> None:
    assert processes() >= 2
