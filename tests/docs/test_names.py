"""No page that people write names a command, option, parameter, metric or address that there is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msgx_app.cli.app import COMMANDS, command
from msgx_app.settings import catalogue
from msgx_core.model.alert import AlertCode
from msgx_core.ports.metrics import METRICS, MetricKind
from pages import ROOT, blocks, name_of, pages, prose
from reference.alerts import rules

# Made by tools, or of other times: what they name is checked where they are made, or was true then.
_MADE = ("docs/reference/", "docs/requirements.md", "docs/mutation.md", "CHANGELOG.md")
WRITTEN = [pytest.param(page, id=name_of(page)) for page in pages() if not name_of(page).startswith(_MADE)]
_COMMAND = re.compile(r"(?:^|[`\s(/$&|;])msgx ((?:[a-z][a-z-]*|--?[a-z])[^\n`]*)")
_KEY = re.compile(r"\bmsgx(?:\.[a-z][a-z0-9-]*)+(?:\.\*)?")
_VARIABLE = re.compile(r"\bMSGX_[A-Z_]+\b")
_SERIES = re.compile(r"\bmsgx_[a-z_]+\b")
_ALERT = re.compile(r"\bMsgx[A-Z]\w+")
_ADDRESS = re.compile(r"/(?:api/v1|health|cminmsgs)(?:/[A-Za-z.{}_]+)*")
_NO_SERIES = frozenset({"msgx_core", "msgx_adapters", "msgx_app", "msgx_read"})
_OTHER_VARIABLES = frozenset({"MSGX_CONFIG", "MSGX_PROFILE"})
_FILES = frozenset({"msgx.toml", "msgx.env", "msgx.service", "msgx.token"})
_SECTION = re.compile(r'^<a id="(\w+)"></a>\n\n### (\w+)\n(.*?)(?=^<a id|^## |\Z)', re.MULTILINE | re.DOTALL)
_CLASSES = frozenset({"MsgxError"})


def code_of(page: Path) -> Iterator[str]:
    """Inline code and blocks: there a command is a command."""
    yield from re.findall(r"`([^`]+)`", prose(page))
    for block in blocks(page):
        if block.language in ("sh", "before"):
            yield from block.text.replace("\\\n", " ").splitlines()
        elif block.language == "console":
            yield from (line[2:] for line in block.text.splitlines() if line.startswith("$ "))


def lookup(words: str) -> tuple[Any, list[str]]:
    """The command that a line names, and what is left of the line; None: there is no such."""
    first, *rest = words.split()
    if first not in COMMANDS:
        return None, rest
    found = command().commands[first]
    below = getattr(found, "commands", {})
    if rest and rest[0] in below:
        return below[rest[0]], rest[1:]
    return found, rest


@pytest.mark.parametrize("page", WRITTEN)
def test_commands_and_options_are_there(page: Path) -> None:
    for line in code_of(page):
        for words in _COMMAND.findall(line):
            if words.startswith("-"):
                continue
            found, rest = lookup(re.split(r"[|;>&#)]| --? ", words)[0])
            assert found is not None, f"there is no {words!r}"
            options = {name for p in found.params for name in (*p.opts, *p.secondary_opts)} | {"--help"}
            used = [word.partition("=")[0] for word in rest if word.startswith("--")]
            assert [option for option in used if option not in options] == [], words


@pytest.mark.parametrize("page", WRITTEN)
def test_parameters_and_metrics_are_there(page: Path) -> None:
    """A name stands for itself, or for all that begin with it."""
    text = page.read_text(encoding="utf-8")
    known = [*catalogue(), *METRICS]
    for name in set(_KEY.findall(text)) - _FILES:
        if re.search(rf"/{re.escape(name)}|{re.escape(name)}\.(?:yml|json)", text):
            continue  # a file
        stem = name.removesuffix(".*").rstrip("-")
        assert any(key == stem or key.startswith((f"{stem}.", f"{stem}-")) for key in known), name
    variables = {setting.env for setting in catalogue().values()} | _OTHER_VARIABLES
    assert {name for name in _VARIABLE.findall(text) if not name.startswith("MSGX_TEST")} <= variables


@pytest.mark.parametrize("page", WRITTEN)
def test_series_and_alerts_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    series = {m.exposed for m in METRICS.values()}
    series |= {f"{m.exposed}_bucket" for m in METRICS.values() if m.kind is MetricKind.HISTOGRAM}
    assert set(_SERIES.findall(text)) - _NO_SERIES <= series
    assert set(_ALERT.findall(text)) - _CLASSES <= {rule["alert"] for rule in rules()}


@pytest.mark.parametrize("page", WRITTEN)
def test_addresses_are_there(page: Path) -> None:
    told = (ROOT / "docs" / "reference" / "endpoints.md").read_text(encoding="utf-8")
    known = [re.sub(r"\{\w+\}", "{}", path) for path in re.findall(r"`[A-Z]+ (/[^`]+)`", told)]
    for address in set(_ADDRESS.findall(page.read_text(encoding="utf-8"))):
        asked = re.sub(r"/(?:[A-Z]+|\{\w+\})(?=/|$)", "/{}", address.rstrip("."))
        assert any(path == asked or path.startswith(f"{asked}/") for path in known), address


def test_each_alert_has_its_section_in_the_runbook() -> None:
    """With its name as anchor: what it means, how to see it, what to do, how to know that it is over."""
    text = (ROOT / "docs" / "howto" / "night-shift.md").read_text(encoding="utf-8")
    found = _SECTION.findall(text)
    assert [anchor for anchor, title, _ in found if anchor != title] == []
    alerts = {rule["alert"] for rule in rules()} | {code.value for code in AlertCode}
    assert {title for _, title, _ in found} == alerts
    for _, title, body in found:
        parts = re.findall(r"\*\*(Means|See|Do)\.\*\*|\*\*(Over when)\*\*", body)
        assert ["".join(part) for part in parts] == ["Means", "See", "Do", "Over when"], title


def test_each_decision_that_the_code_names_has_its_page() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src").rglob("*")
        if path.suffix in (".py", ".sql")
    )
    named = set(re.findall(r"\bD-(\d\d)\b", sources))
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert named == {path.name[2:4] for path in files}
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequence"], (
            path.name
        )
        assert f"`D-{path.name[2:4]}`" in text


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("msgx replay 7 --dry-run", True),
        ("msgx replai 7", False),
        ("msgx outbox requeue 1 --target msg", True),
    ],
)
def test_a_command_that_is_not_there_is_found(line: str, there: bool) -> None:
    (words,) = _COMMAND.findall(line)
    assert (lookup(words)[0] is not None) is there
