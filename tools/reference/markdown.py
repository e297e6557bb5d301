"""Markdown as GitHub and the site both read it: tables, code, links to decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions"
MADE = "Made by `make reference` from the code; do not edit it here.\n"

_DECISION = re.compile(r"\bD-(\d\d)\b")


def page(title: str, *parts: str) -> str:
    """A page of the reference."""
    return "\n".join([f"# {title}\n", MADE, *parts]).rstrip("\n") + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(cell or " " for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """Text as code, also in a table."""
    if "|" in text or "`" in text:
        return f"<code>{text.replace('&', '&amp;').replace('<', '&lt;').replace('|', '&#124;')}</code>"
    return f"`{text}`" if text else ""


def prose(text: str) -> str:
    """Words of the code as Markdown for a table or a paragraph, decisions linked."""
    parts = " ".join(text.split()).split("`")
    plain = [part.replace("<", "&lt;").replace("|", "&#124;").replace("*", r"\*") for part in parts[::2]]
    spoken = [_DECISION.sub(_linked, part) for part in plain]
    told = [spoken[0]]
    for quoted, after in zip(parts[1::2], spoken[1:], strict=False):
        told += [code(quoted), after]
    return "".join(told)


def sentence(text: str) -> str:
    """The same as a sentence: a capital letter, unless a name of ours begins it, and a full stop."""
    text = prose(text).strip()
    if not text:
        return ""
    ended = text if text.endswith((".", ":", ";", "?", "!")) else f"{text}."
    return ended if ended.startswith("msgx") else ended[:1].upper() + ended[1:]


@cache
def decisions() -> dict[str, str]:
    """File names of the decision records by their numbers in the code: `D-04`."""
    found = sorted(DECISIONS.glob("[0-9][0-9][0-9][0-9]-*.md"))
    return {f"D-{int(path.name[:4]):02}": path.name for path in found}


def _linked(found: re.Match[str]) -> str:
    name = decisions().get(found[0])
    return found[0] if name is None else f"[{found[0]}](../decisions/{name})"
