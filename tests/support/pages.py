"""The code blocks of the README and the documentation, and what the pages say about running them.

A comment before a block says how it is run; readers of the page do not see it:

    <!-- not run: why nothing can run it -->
    <!-- run: exit 1 -->              the block ends with that code
    <!-- run: stays -->               it goes on in the background until the page ends
    <!-- run: pytest -->              a Python block with tests
    <!-- run: on postgresql -->       SQL on a real server (postgresql), commands on one (redis)
    <!-- before                       shell commands that the page needs and the reader does not
    msgx init
    -->
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]

_MARK = re.compile(r"<!--\s*(not run|run):\s*(.*?)\s*-->", re.DOTALL)
_BEFORE = re.compile(r"<!-- before\n(.*?)-->", re.DOTALL)


@frozen
class Block:
    """One block of a page; `line` is that of its first line. `how` is what a comment says, `why_not` too."""

    page: str
    line: int
    language: str
    text: str
    how: str = ""
    why_not: str = ""

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """Every page that people read."""
    outside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md")]
    return [*outside, *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """Its path in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page in order, those of `before` comments with the language `before`."""
    name = name_of(page)
    how = why_not = ""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block":
            before = _BEFORE.search(token.content)
            if before:
                yield Block(name, line, "before", before[1])
            for kind, told in _MARK.findall(token.content):
                how, why_not = (told, "") if kind == "run" else ("", told)
        elif token.type in ("fence", "code_block"):
            language = token.info.split()[0] if token.info.strip() else ""
            yield Block(name, line + 1, language, token.content, how, why_not)
            how = why_not = ""
        elif token.nesting >= 0 and token.type != "list_item_open":
            how = why_not = ""


def prose(page: Path) -> str:
    """The page without its blocks and comments."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
