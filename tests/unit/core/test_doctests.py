"""The examples in the docstrings of the core hold, and the public functions have one each."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import msgx_core

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(msgx_core.__path__, "msgx_core.")
    if not info.name.startswith("msgx_core.testing")
)
SHOWN = ["Identity.of", "merge_complete", "apply_flop", "plan_schedule", "is_newer"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    """house rules: an example that is wrong is worse than none; every module imports alone."""
    module = import_module(name)
    assert doctest.testmod(module).failed == 0
    assert module.__doc__, "says in its first line what it is for"


@pytest.mark.parametrize("name", SHOWN)
def test_what_embedding_promises_has_an_example(name: str) -> None:
    """architecture (Embedding): pure, typed, documented with an example each."""
    target: object = msgx_core
    for part in name.split("."):
        target = getattr(target, part)
    assert ">>>" in (inspect.getdoc(target) or "")
