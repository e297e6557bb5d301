"""Alerts: the rules for Prometheus, and the rows that the store keeps until a person acknowledges them."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import yaml

from msgx_core.model.alert import AlertCode
from reference.markdown import ROOT, code, page, sentence, table

_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")
RULES = ROOT / "deploy" / "prometheus" / "msgx.rules.yml"
RUNBOOK = "../howto/night-shift.md"

INTRO = f"""\
There are two kinds. **Rules** watch the metrics from outside and ring when something lasts; they are in
`deploy/prometheus/msgx.rules.yml`. **Rows** are written by msgx itself, in the same transaction as the
change that they report; `msgx alerts` shows them until somebody acknowledges them. [Night shift]({RUNBOOK})
says of each what to do.
"""


def rules() -> list[dict[str, Any]]:
    """The rules as they are loaded by Prometheus."""
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def meanings() -> dict[str, str]:
    """What each code of an alert row means: the text below it in the source."""
    (declared,) = ast.parse(inspect.getsource(AlertCode)).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for row, below in zip(declared.body, declared.body[1:], strict=False):
        if isinstance(row, ast.Assign) and isinstance(row.targets[0], ast.Name):
            told = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            found[row.targets[0].id] = str(below.value.value) if told else ""  # type: ignore[attr-defined]
    return found


def text() -> str:
    """The page."""
    watched = [
        (
            f"[{rule['alert']}]({RUNBOOK}#{rule['alert']})",
            rule["labels"]["severity"],
            sentence(_LABEL.sub(lambda found: found[1].upper(), rule["annotations"]["summary"])),
            str(rule["for"]),
            code(rule["expr"]),
        )
        for rule in rules()
    ]
    told = meanings()
    rows = [(f"[{each.name}]({RUNBOOK}#{each.name})", sentence(told[each.name])) for each in AlertCode]
    return page(
        "Alerts",
        INTRO,
        "## Rules for Prometheus\n",
        table(("alert", "severity", "meaning", "for", "when"), watched),
        "## Rows of the store\n",
        table(("code", "meaning"), rows),
    )
