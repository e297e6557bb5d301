"""Failures are counted in one place (IMP §9.1)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import msgx_core.pipeline

FOLDER = Path(msgx_core.pipeline.__file__).parent


def calls(method: str) -> list[str]:
    """Files of the pipeline that call something of this name, once for each call."""
    return [
        path.name
        for path in sorted(FOLDER.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and method
        == (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
    ]


@pytest.mark.parametrize(
    ("method", "home"),
    [("fail", "processor.py"), ("settle_delivery", "relays.py"), ("writeback_retry", "writeback.py")],
)
def test_each_kind_of_failure_is_counted_at_one_place(method: str, home: str) -> None:
    """R-116, R-118: of a message, of an event, of a write-back; no layer around counts again."""
    assert calls(method) == [home]
