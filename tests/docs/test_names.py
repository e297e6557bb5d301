"""No page that people write names a command, parameter, metric, alert, reason or address without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from msgx_app.cli.app import COMMANDS, command
from msgx_app.settings import catalogue
from msgx_core.model.alert import AlertCode
from msgx_core.ports.metrics import METRICS, MetricKind
from msgx_core.rules.sources import REASONS
from pages import ROOT, blocks, name_of, pages, prose
from reference.alerts import rules
from reference.reasons import CODES, REQUESTS

# Made by tools, or of other times: what they name is checked where they are made, or was true then.
_MADE = ("docs/reference/", "docs/requirements.md", "docs/mutation.md", "CHANGELOG.md")
WRITTEN = [pytest.param(page, id=name_of(page)) for page in pages() if not name_of(page).startswith(_MADE)]

_COMMAND = re.compile(r"(?:^|[`\s(/$&|;])msgx ((?:[a-z][a-z-]*|--?[a-z])[^\n`]*)")
_KEY = re.compile(r"\bmsgx(?:\.[a-z][a-z0-9-]*)+(?:\.\*)?")
_VARIABLE = re.compile(r"\bMSGX_(?!TEST)[A-Z_]+\b")
_SERIES = re.compile(r"\bmsgx_[a-z_]+\b")
_ALERT = re.compile(r"\bMsgx[A-Z]\w+")
_ADDRESS = re.compile(r"/(?:api/v1|health|cminmsgs)(?:/[A-Za-z.{}_]+)*")
_ENDED = re.compile(r"\b(?:SKIPPED|DEAD|FAILED)\(([^)]+)\)")
_SECTION = re.compile(r'^<a id="(\w+)"></a>\n\n### (\w+)\n(.*?)(?=^<a id|^## |\Z)', re.MULTILINE | re.DOTALL)
_FILES = frozenset({"msgx.toml", "msgx.env", "msgx.service", "msgx.token"})
_NO_SERIES = frozenset({"msgx_core", "msgx_adapters", "msgx_app", "msgx_read"})
_OTHER_VARIABLES = frozenset({"MSGX_CONFIG", "MSGX_PROFILE"})
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


def commands(line: str) -> Iterator[str]:
    """Commands and options of a line of code that there are not."""
    for words in _COMMAND.findall(line):
        if words.startswith("-"):
            continue
        found, rest = lookup(re.split(r"[|;>&#)]| --? ", words)[0])
        if found is None:
            yield words
            continue
        options = {name for p in found.params for name in (*p.opts, *p.secondary_opts)} | {"--help"}
        used = {word.partition("=")[0] for word in rest if word.startswith("--")}
        yield from sorted(used - options)


def parameters(text: str) -> Iterator[str]:
    """Parameters and metrics by their dotted names; one stands for all that begin with it."""
    known = [*catalogue(), *METRICS]
    for name in sorted(set(_KEY.findall(text)) - _FILES):
        a_file = re.search(rf"/{re.escape(name)}|{re.escape(name)}\.(?:yml|json)", text)
        stem = name.removesuffix(".*").rstrip("-")
        if not a_file and not any(key == stem or key.startswith((f"{stem}.", f"{stem}-")) for key in known):
            yield name
    variables = {setting.env for setting in catalogue().values()} | _OTHER_VARIABLES
    yield from sorted(set(_VARIABLE.findall(text)) - variables)


def series(text: str) -> Iterator[str]:
    """Metrics by the names that are scraped, and alerts."""
    known = {m.exposed for m in METRICS.values()} | _NO_SERIES
    known |= {f"{m.exposed}_bucket" for m in METRICS.values() if m.kind is MetricKind.HISTOGRAM}
    yield from sorted(set(_SERIES.findall(text)) - known)
    yield from sorted(set(_ALERT.findall(text)) - _CLASSES - {rule["alert"] for rule in rules()})


def reasons(text: str) -> Iterator[str]:
    """Codes and reasons of an end such as DEAD(MALFORMED, raw-missing)."""
    for told in _ENDED.findall(text):
        for word in re.split(r"[\s,]+", told.replace("`", "")):
            if word.partition(":")[0] not in {*CODES, *REASONS, *REQUESTS}:
                yield word


def addresses(text: str) -> Iterator[str]:
    """Addresses of HTTP; one stands for all below it."""
    told = (ROOT / "docs" / "reference" / "endpoints.md").read_text(encoding="utf-8")
    known = [re.sub(r"\{\w+\}", "{}", path) for path in re.findall(r"`[A-Z]+ (/[^`]+)`", told)]
    for address in sorted(set(_ADDRESS.findall(text))):
        asked = re.sub(r"/(?:[A-Z]+|\{\w+\})(?=/|$)", "/{}", address.rstrip("."))
        if not any(path == asked or path.startswith(f"{asked}/") for path in known):
            yield address


@pytest.mark.parametrize("page", WRITTEN)
def test_commands_and_options_are_there(page: Path) -> None:
    assert [name for line in code_of(page) for name in commands(line)] == []


@pytest.mark.parametrize("names", [parameters, series, reasons, addresses])
@pytest.mark.parametrize("page", WRITTEN)
def test_what_is_named_is_there(page: Path, names: Callable[[str], Iterator[str]]) -> None:
    assert list(names(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("names", "text", "wrong"),
    [
        (commands, "`msgx replai 7`", ["replai 7"]),
        (commands, "msgx replay 7 --dry-run --forse | cat", ["--forse"]),
        (commands, "msgx outbox requeue 1 --target msg", []),
        (parameters, "`msgx.pipeline.max-atempts`, `msgx.history.window`", ["msgx.pipeline.max-atempts"]),
        (parameters, "MSGX_STORE_URI and MSGX_STORE_URL", ["MSGX_STORE_URI"]),
        (series, "msgx_outages, msgx_outage", ["msgx_outages"]),
        (series, "MsgxHeadIsYoung, MsgxHeadIsOld", ["MsgxHeadIsYoung"]),
        (reasons, "`DEAD(MALFORMED, raw-lost)`, `SKIPPED(duplicate-of:7)`", ["raw-lost"]),
        (addresses, "/api/v1/flight/7 and /api/v1/flights/FLID", ["/api/v1/flight"]),
    ],
)
def test_a_name_that_is_not_there_is_found(
    names: Callable[[str], Iterator[str]], text: str, wrong: list[str]
) -> None:
    assert list(names(text)) == wrong


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
    files = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".sql")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files)
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert set(re.findall(r"\bD-(\d\d)\b", sources)) == {path.name[2:4] for path in records}
    for path in records:
        text = path.read_text(encoding="utf-8")
        titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert titles == ["Context", "Decision", "Consequence"], path.name
        assert f"`D-{path.name[2:4]}`" in text
