"""The reference is current, and has everything that the code has and nothing else.

The second half does not ask the generator: it reads the pages as people do, and the code by other means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from msgx_app.cli.app import COMMANDS, command
from msgx_app.settings import Settings, catalogue
from msgx_app.settings.flow import AirportSettings
from msgx_core.errors import CodecError, Malformed, MsgxError, Protocol
from msgx_core.model import sis
from msgx_core.model.alert import AlertCode
from msgx_core.ports.metrics import METRICS
from msgx_core.rules.sources import REASONS
from pages import ROOT
from reference.alerts import meanings
from reference.pages import FOLDER, pages
from reference.tables import relations

COMMON = {"--config", "--set", "--json"}
PAGES = pages()


def read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def first_cells(text: str) -> list[str]:
    """The first cell of each row of every table, as plain text."""
    cells = re.findall(r"^\| (.+?) \|", text, re.MULTILINE)
    return [re.sub(r"`|<[^>]+>|\[|\]\(.*?\)", "", cell) for cell in cells]


def section(text: str, title: str) -> str:
    """What is below a heading."""
    return re.split(r"^## ", text.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    assert (FOLDER / name).exists(), "make reference"
    assert read(name) == PAGES[name], f"docs/reference/{name} is not current: make reference"


@pytest.mark.parametrize("name", PAGES)
def test_no_link_is_in_a_link(name: str) -> None:
    """Words that were made Markdown twice have a link as the text of a link."""
    assert re.findall(r"\[\[[^\]]*\]\(", read(name)) == []


def test_no_page_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.md")} == set(PAGES)


def all_commands() -> Iterator[tuple[str, Any]]:
    group = command()
    for name in COMMANDS:
        found = group.commands[name]
        yield f"msgx {name}", found
        for below, sub in getattr(found, "commands", {}).items():
            yield f"msgx {name} {below}", sub


def test_commands_and_their_options() -> None:
    text = read("commands.md")
    told = dict(re.findall(r"^### (msgx [\w -]+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))
    assert set(told) == {words for words, _ in all_commands()}
    for words, found in all_commands():
        options = {
            name for p in found.params for name in (*p.opts, *p.secondary_opts) if name.startswith("--")
        }
        table = told[words].partition("| option |")[2].partition("\n\n")[0]
        rows = {name for cell in first_cells(table) for name in re.findall(r"(?<![\w-])--[\w-]+", cell)}
        assert rows == options - COMMON, words
    assert set(re.findall(r"--[\w-]+", section(text, "Common options"))) >= COMMON


def test_parameters() -> None:
    text = read("parameters.md")
    assert sorted(cell for cell in first_cells(text) if cell.startswith("msgx.")) == sorted(catalogue())
    for setting in catalogue().values():
        (row,) = re.findall(rf"^\| `{re.escape(setting.key)}` .*$", text, re.MULTILINE)
        assert f"`{setting.env}`" in row
        assert setting.spec.meaning[1:20].rstrip(" (") in row


def test_metrics() -> None:
    told = [cell for cell in first_cells(read("metrics.md")) if cell.startswith("msgx_")]
    assert told == [metric.exposed for metric in METRICS.values()]


def rule_names() -> list[str]:
    rules = yaml.safe_load((ROOT / "deploy" / "prometheus" / "msgx.rules.yml").read_text(encoding="utf-8"))
    return [rule["alert"] for group in rules["groups"] for rule in group["rules"]]


def test_alerts() -> None:
    cells = first_cells(read("alerts.md"))
    assert [cell for cell in cells if cell.startswith("Msgx")] == rule_names()
    assert [cell for cell in cells if cell.isupper()] == [code.value for code in AlertCode]
    assert [code for code, meaning in meanings().items() if not meaning] == []


def test_reasons_and_codes() -> None:
    text = read("reasons.md")
    assert first_cells(section(text, "Reasons of messages"))[1:] == list(REASONS)
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src" / "msgx_core" / "pipeline").rglob("*.py")
    )
    own = re.findall(r'_fail\(head, "([A-Z_]+)"|Outcome\([^)]*\), "([A-Z_]+)"', sources)
    raised = {kind.code for kind in (Malformed, Protocol)} | {name for pair in own for name in pair if name}
    assert issubclass(CodecError, MsgxError)
    assert set(first_cells(section(text, "Error codes"))[1:]) == raised


def test_reasons_of_requests_and_refusals_are_given_by_the_code() -> None:
    text = read("reasons.md")
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.sql")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files if "testing" not in path.parts)
    for title in ("Reasons of requests", "Refusals of bus and mailbox"):
        reasons = first_cells(section(text, title))[1:]
        assert len(reasons) > 2
        for reason in reasons:
            assert re.search(rf"[\"']{reason}[\"':]", sources), reason


def test_tables_and_columns() -> None:
    """Each with its meaning; the names of the declaration are those of the comments on it."""
    text = read("tables.md")
    titles = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    declared = re.findall(
        r'^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?"?msgx"?\.(\w+)', declared_text(), re.MULTILINE
    )
    assert titles == declared
    commented = re.findall(r'^COMMENT ON COLUMN "?msgx"?\.(\w+)\.(\w+)', declared_text(), re.MULTILINE)
    told = {(relation.name, column.name) for relation in relations() for column in relation.columns}
    assert told == set(commented)
    assert [name for name, column in told if f"`{column}`" not in section(text, name)] == []
    assert [c.name for relation in relations() for c in relation.columns if not c.meaning] == []
    assert [relation.name for relation in relations() if not relation.meaning] == []
    assert [r.name for r in relations() if "' " in r.meaning or r.meaning.endswith("'")] == []


def declared_text() -> str:
    from msgx_adapters.store_postgres.schema import declared_sql

    return declared_sql()


def test_messages_and_tags() -> None:
    cells = first_cells(read("messages.md"))
    for known in (sis.SCALARS, sis.SINGLES, sis.COLLECTIONS, sis.FLOP_ROWS, sis.CATEGORIES):
        assert set(known) <= set(cells)
    tags = [cell for cell in cells if re.fullmatch(r"[A-Z]{4}", cell)]
    extra = {"SCHD", "FLOP", "EROR", "RSTA", "TYPE", "STYP"}
    assert set(tags) <= {*sis.MODEL_TAGS, *sis.FLOP_ROWS, *sis.CATEGORIES, *extra}


def test_endpoints() -> None:
    """The addresses that the application routes, by its own table."""
    from msgx_app import backends
    from msgx_app.daemon.monitor import Monitor
    from msgx_app.http.app import litestar_app
    from msgx_app.http.budget import CpuBudget
    from msgx_app.http.office import Office
    from msgx_app.http.watch import Watch
    from msgx_core.ports import Silent

    clock = backends.system_clock()
    office = Office(Settings(airport=AirportSettings(code="XXX")), clock, CpuBudget(clock, lambda: False))
    watch = Watch.on(Monitor(clock), office, backends.open_metrics(clock), "nobody")
    routed = {
        f"{method} {re.sub(r':[a-z]+(?=})', '', route.path)}"
        for route in litestar_app(office, watch, Silent()).routes
        for method in getattr(route, "methods", ())
        if method not in ("OPTIONS", "HEAD")
    }
    told = {
        cell for cell in first_cells(read("endpoints.md")) if re.match(r"(GET|POST|PUT|DELETE|PATCH) /", cell)
    }
    assert told == routed
