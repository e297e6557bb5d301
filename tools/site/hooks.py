"""Hooks of mkdocs: pages that live at the root of the repository, and links that leave `docs`.

On the site a link to a file that is no page becomes the file's path as text. One that leads nowhere stays a
link, so that `--strict` fails.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

ADOPTED = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages of the site that are files of the repository outside `docs`."""

WRITTEN_LATER = frozenset({"docs/bench/report.md"})
"""Pages that a long run writes and that need not be there."""

BEING_BUILT = frozenset({"console.md"})
"""Pages of parts that are still being built: the navigation shows them once they are there."""

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_ELSEWHERE = re.compile(r"[a-z]+:")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation without pages that are not there yet."""
    docs = Path(config.docs_dir)
    for part in config.nav or []:
        for pages in part.values():
            if isinstance(pages, list):
                pages[:] = [page for page in pages if not _missing(page, docs)]
    return config


def _missing(page: Any, docs: Path) -> bool:
    name = next(iter(page.values())) if isinstance(page, dict) else page
    return name in BEING_BUILT and not (docs / name).exists()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site with the adopted pages."""
    for name, source in ADOPTED.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """The page with its links as the site needs them; code is left alone."""
    uri = page.file.src_uri
    source = ADOPTED.get(uri, f"docs/{uri}")
    lines, in_code = [], False
    for line in markdown.splitlines():
        in_code ^= line.lstrip().startswith("```")
        lines.append(line if in_code else _LINK.sub(lambda found: _link(found, source, uri), line))
    return "\n".join(lines) + "\n"


def _link(found: re.Match[str], source: str, uri: str) -> str:
    text, target, anchor = found[1], found[2], found[3] or ""
    if not target or _ELSEWHERE.match(target):
        return found[0]
    path = os.path.normpath(os.path.join(os.path.dirname(source), target))
    for name, adopted in ADOPTED.items():
        if path == adopted:
            return f"[{text}]({_relative(name, uri)}{anchor})"
    if path.startswith("docs/") and path not in WRITTEN_LATER:
        return f"[{text}]({_relative(path.removeprefix('docs/'), uri)}{anchor})"
    if path in WRITTEN_LATER and (ROOT / path).exists():
        return found[0]
    if path in WRITTEN_LATER or ((ROOT / path).exists() and not path.startswith("..")):
        named = text.strip("`")
        return f"`{path}`" if path.rstrip("/").endswith(named.rstrip("/")) else f"{text} (`{path}`)"
    return found[0]


def _relative(name: str, uri: str) -> str:
    return os.path.relpath(name, os.path.dirname(uri) or ".")
