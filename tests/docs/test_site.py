"""The site is built strictly, has every page, and fetches nothing from anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pages import ROOT

CONFIG = ROOT / "mkdocs.yml"
# Whatever a browser loads by itself; a link that a person may follow is none of it.
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|data)=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b(?![^>]*rel=["']?canonical)[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|url\(["']?((?:https?:)?//[^"')]+)""",
    re.IGNORECASE,
)


def build(config: Path, into: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(into)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site")
    done = build(CONFIG, into)
    assert done.returncode == 0, done.stdout + done.stderr
    return into


def test_every_page_is_there(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 70
    for page in pages:
        name = page.with_name("index.html") if page.name == "README.md" else page.with_suffix(".html")
        assert (site / name).exists(), page
    assert (site / "contributing.html").exists()
    assert (site / "schemas" / "openapi.json").exists()


def test_nothing_is_fetched_from_anywhere(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 70
    for path in files:
        loaded = _LOADED.findall(path.read_text(encoding="utf-8"))
        assert loaded == [], path


@pytest.mark.parametrize(
    "loads",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        "@font-face { src: url(https://fonts.example/a.woff2) }",
    ],
)
def test_what_is_fetched_would_be_found(loads: str) -> None:
    assert _LOADED.search(loads)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("[x](nowhere.md)", id="no-page"),
        pytest.param("[x](../src/nowhere.py)", id="no-file"),
        pytest.param("[x](#nowhere)", id="no-anchor"),
        pytest.param("[x](other.md)", id="not-in-nav"),
    ],
)
def test_a_link_that_leads_nowhere_fails(tmp_path: Path, wrong: str) -> None:
    """And a page that the navigation does not have."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text(f"# Home\n\n{wrong}\n")
    if "other" in wrong:
        (docs / "other.md").write_text("# Other\n")
    config = tmp_path / "mkdocs.yml"
    hooks = [str(ROOT / "tools" / "site" / "hooks.py")]
    nav = [{"Home": "index.md"}, {"Contribute": "contributing.md"}, {"Changes": "changelog.md"}]
    own: dict[str, object] = {"INHERIT": str(CONFIG), "docs_dir": str(docs), "nav": nav, "hooks": hooks}
    own |= {"theme": {"name": "mkdocs"}, "validation": {"links": {"not_found": "warn"}}}
    config.write_text(yaml.safe_dump(own))
    done = build(config, tmp_path / "site")
    assert done.returncode != 0
    assert "index.md" in done.stderr or "other.md" in done.stderr
