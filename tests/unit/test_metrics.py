"""The table of metrics against the code that tells them, and against the dashboard and the alert rules."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msgx_core.model.alert import AlertCode
from msgx_core.ports.metrics import FROM_THE_START, LOOPS, METRICS, STAGES, MetricKind

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "deploy" / "grafana" / "msgx.json"
RULES = ROOT / "deploy" / "prometheus" / "msgx.rules.yml"
_TOLD = re.compile(r"\.(?:count|observe)\(\s*f?\"(msgx\.[a-z.\-{}]+)\"")
_STAGE = re.compile(r"\.stage\(\"([a-z-]+)\"")
_READING = re.compile(r"Reading\(\"(msgx\.[a-z._\-]+)\"")
_SERIES = re.compile(r"\b(msgx_[a-z0-9_]+)\b")
_SUFFIXES = ("_bucket", "_count", "_sum")


def sources() -> Iterator[str]:
    for path in sorted((ROOT / "src").rglob("*.py")):
        if "testing" not in path.parts:
            yield path.read_text(encoding="utf-8")


def exposed() -> set[str]:
    names = {metric.exposed for metric in METRICS.values()}
    histograms = {m.exposed for m in METRICS.values() if m.kind is MetricKind.HISTOGRAM}
    return names | {f"{name}{suffix}" for name in histograms for suffix in _SUFFIXES}


def test_what_the_code_counts_is_in_the_table() -> None:
    """R-446: a name that is in no table would be dropped, unseen. `{…}` stands for several names."""
    told = {name for text in sources() for name in _TOLD.findall(text)}
    assert len(told) > 20
    for name in told:
        pattern = re.escape(re.sub(r"\{[^}]*\}", "*", name)).replace(r"\*", "[a-z-]+")
        assert any(re.fullmatch(pattern, known) for known in METRICS), name


def test_what_is_in_the_table_is_told_by_the_code() -> None:
    """R-446: no metric that nothing ever sets."""
    text = "\n".join(sources())
    told = {*_TOLD.findall(text), *_READING.findall(text)}
    patterns = [re.escape(re.sub(r"\{[^}]*\}", "*", name)).replace(r"\*", "[a-z-]+") for name in told]
    patterns.append(r"msgx\.stage\..*")  # told by the adapter around each piece of work
    missing = [name for name in METRICS if not any(re.fullmatch(pattern, name) for pattern in patterns)]
    assert missing == ["msgx.telemetry.lost"]  # counted under a constant's name


def test_stages_are_those_of_the_table() -> None:
    found = {name for text in sources() for name in _STAGE.findall(text)}
    assert found == set(STAGES)


def test_loops_are_those_of_the_daemon() -> None:
    found = {name for text in sources() for name in re.findall(r"\bPart\(\"([a-z-]+)\"", text)}
    assert found == set(LOOPS)


def test_a_counter_whose_first_count_is_to_ring_begins_at_zero() -> None:
    """`increase() > 0` by a label; of one without labels there is a series from the start anyway."""
    watched = set()
    for rule in rules():
        if rule["expr"].endswith("> 0"):
            watched |= set(re.findall(r"increase\((msgx_[a-z_]+)", rule["expr"]))
    labelled = {m.name for m in METRICS.values() if m.exposed in watched and m.labels}
    assert labelled == set(FROM_THE_START)
    assert all(len(METRICS[name].labels) == 1 for name in FROM_THE_START)


def test_names_are_given_once() -> None:
    names = [metric.exposed for metric in METRICS.values()]
    assert len(set(names)) == len(names)


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    """And shows every stage's count, duration and success, and what people wait for."""
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = {name for expression in expressions(dashboard) for name in _SERIES.findall(expression)}
    assert asked <= exposed(), asked - exposed()
    wanted = {
        "msgx_pipeline_backlog_oldest_unprocessed_seconds",
        "msgx_terminal_total",
        "msgx_stage_total",
        "msgx_stage_duration_seconds_bucket",
        "msgx_stage_last_success_timestamp_seconds",
        "msgx_writeback_pending",
        "msgx_event_oldest_seconds",
        "msgx_lease_held",
        "msgx_alerts_open",
        "msgx_outage",
    }
    assert wanted <= asked
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(panel["title"] for panel in dashboard["panels"])


def expressions(node: Any) -> Iterator[str]:
    """Every query in a dashboard."""
    if isinstance(node, dict):
        if isinstance(node.get("expr"), str):
            yield node["expr"]
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from expressions(each)


def rules() -> list[dict[str, str]]:
    """The alert rules, read without a YAML parser: one `key: value` a line, blocks by `- alert:`."""
    found: list[dict[str, str]] = []
    for line in RULES.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\s*(?:- )?(alert|expr|for|severity|summary|description|runbook):\s*(.+)$", line)
        if match is None:
            continue
        if match[1] == "alert":
            found.append({})
        found[-1][match[1]] = match[2].strip("\"'")
    return found


def test_the_alert_rules_ask_for_metrics_that_there_are() -> None:
    """Each says since when, how bad, what is wrong and what to do."""
    found = rules()
    assert len(found) >= 10
    names = [rule["alert"] for rule in found]
    assert len(set(names)) == len(names)
    for rule in found:
        assert set(_SERIES.findall(rule["expr"])) <= exposed(), rule
        assert set(rule) >= {"alert", "expr", "for", "severity", "summary", "description"}, rule
        assert rule["severity"] in ("critical", "warning")


def test_expressions_are_balanced() -> None:
    for rule in rules():
        assert rule["expr"].count("(") == rule["expr"].count(")")
        assert rule["expr"].count("{") == rule["expr"].count("}")


def test_the_rules_are_legal() -> None:
    """By Prometheus' own tool, where it is to be had."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("no promtool (it comes with Prometheus)")
    done = subprocess.run([tool, "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("code", [AlertCode.OUTAGE, AlertCode.DEAD_EVENT])
def test_alerts_of_the_store_are_alerts_of_prometheus(code: AlertCode) -> None:
    """Whatever raises an alert row is noticed: open alerts are a rule of their own."""
    assert code.value
    assert any("msgx_alerts_open" in rule["expr"] for rule in rules())
