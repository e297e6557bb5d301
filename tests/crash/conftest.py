"""What the crash tests have covered, told at the end of a run."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from crashing.matrix import KINDS, Coverage
from msgx_core.pipeline.steps import BOUNDARIES

MEMORY, REAL = pytest.StashKey[Coverage](), pytest.StashKey[Coverage]()
NOTHING = pickle.dumps([])


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is covered yet."""
    config.stash[MEMORY], config.stash[REAL] = Coverage(), Coverage()


@pytest.fixture(scope="session")
def covered(pytestconfig: pytest.Config) -> Coverage:
    """Crashes by an exception, in memory."""
    return pytestconfig.stash[MEMORY]


@pytest.fixture(scope="session")
def killed(pytestconfig: pytest.Config) -> Coverage:
    """Crashes by `kill -9`, on the real set."""
    return pytestconfig.stash[REAL]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that was handed some of the tests gives its counts to the one that tells them."""
    if hasattr(session.config, "workeroutput"):
        counted = [session.config.stash[key] for key in (MEMORY, REAL)]
        session.config.workeroutput["crash"] = pickle.dumps(counted)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Such a process has ended."""
    counted = pickle.loads(getattr(node, "workeroutput", {}).get("crash", NOTHING))
    for key, found in zip((MEMORY, REAL), counted, strict=False):
        node.config.stash[key].add(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Boundaries and kinds; a boundary that nothing was cut off at is named."""
    for name, key in (("in memory", MEMORY), ("kill -9, real set", REAL)):
        found = config.stash.get(key, Coverage())
        if not found.crashes:
            continue
        pairs = sum(len(kinds) for kinds in found.kinds.values())
        kinds = set().union(*found.kinds.values())
        terminalreporter.section(f"crash points ({name})", sep="-", bold=True)
        terminalreporter.write_line(
            f"{found.crashes} crashes at {len(found.kinds)} of {len(BOUNDARIES)} boundaries,"
            f" {len(kinds)} of {len(KINDS)} kinds, {pairs} pairs of them"
        )
        for step, boundary in BOUNDARIES.items():
            terminalreporter.write_line(f"  {boundary.part:14} {step:18} {len(found.kinds[step]):4} kinds")
