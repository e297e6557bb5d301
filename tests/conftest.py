"""Hypothesis profiles: `ci` gives the same short run each time, `deep` a random and long one.

`mutate` is `ci` that does not look for the smallest example: any failure will do.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module

import pytest
from hypothesis import Phase, settings
from xdist.remote import Producer

from spreading import Spread, processes

pytest.register_assert_rewrite("msgx_core.testing", "tests.proof")

PROGRESS_EVERY_S = 30.0

# A run in the background ignores Ctrl-C, and so would the programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.register_profile("deep", derandomize=False, deadline=None, max_examples=2_000, print_blob=True)
settings.register_profile(
    "mutate", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate), print_blob=False
)
settings.load_profile(os.environ.get("MSGX_PROFILE", "ci"))


@pytest.fixture
def progress(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Tells at once how far a long test is, at most every half a minute, whatever pytest does with output."""
    capture, told_s = pytestconfig.pluginmanager.getplugin("capturemanager"), time.monotonic()

    def tell(how_far: str) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= PROGRESS_EVERY_S:
            told_s = time.monotonic()
            with nullcontext() if capture is None else capture.global_and_fixture_disabled():
                print(f"{request.node.name}: {how_far}", file=sys.stderr, flush=True)

    return tell


def pytest_configure(config: pytest.Config) -> None:
    """The process that hands out tests collects none: here it learns what these folders tell at the end."""
    if config.getoption("dist", "no") != "no":
        for folder in ("crash", "proof"):
            telling = import_module(f"tests.{folder}.conftest")
            if not config.pluginmanager.is_registered(telling):
                config.pluginmanager.register(telling)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`."""
    return processes()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Spread:
    """With `-n`: tests are spread over processes as `tests/support/spreading.py` says."""
    return Spread(config, log)
