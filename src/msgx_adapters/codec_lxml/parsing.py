"""Our own lxml parsers, and the translation of their complaints into reasons of D-25."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree

from msgx_adapters.codec_lxml.text import place_of
from msgx_core.errors import Malformed

CHUNK_BYTES = 64 * 1024
_DOCTYPE = b"<!DOCTYPE"
_BLANKS = re.compile(rb"[ \t\r\n]*")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_REFERENCE = re.compile(rb"&#(?:x0*([0-9a-fA-F]{1,6})|0*([0-9]{1,7}));")
_NOT_CONTROL = frozenset({0x9, 0xA, 0xD})
_UNKNOWN_LINE = 65_535


# One set of options for both parsers. A document with a doctype never comes this far, so no entity is ever
# declared and nothing can be resolved. `internal` makes lxml report an undeclared one: under False its pull
# parser passes over the error, forgets the document and starts a new one with the next chunk.
# `huge_tree` lifts the limit of 10,000,000 bytes on one text, which a legal message of 10 MiB may pass; the
# size is capped before, and libxml2 still stops at 2048 levels.
_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "encoding": "utf-8",
        "resolve_entities": "internal",
        "no_network": True,
        "load_dtd": False,
        "huge_tree": True,
        "remove_comments": True,
        "remove_pis": True,
    }
)


def new_parser() -> etree.XMLParser:
    """A parser that fetches nothing, resolves nothing and drops comments."""
    return etree.XMLParser(**_OPTIONS)


def grow(data: bytes) -> Generator[tuple[etree._Element, bool], None, None]:
    """The root of a large document while it grows, then once more, complete (True).

    After each step all but the last child of an element are complete: the caller may take and delete them,
    at the root and below it. A root that is not `MSG` shows up only when it is complete. When the generator
    ends or is closed, the tree is gone.
    """
    parser = etree.XMLPullParser(events=("start",), tag="MSG", **_OPTIONS)
    root: etree._Element | None = None
    try:
        for start in range(0, len(data), CHUNK_BYTES):
            parser.feed(data[start : start + CHUNK_BYTES])
            if root is None:
                root = _first_root(parser)
            if root is not None:
                yield root, False
        root = parser.close()
        yield root, True
    finally:
        # Parser and document hold each other until the collector comes by: the tree does not wait for that.
        if root is not None:
            root.clear()


def refuse_doctype(data: bytes) -> None:
    """Raise `Malformed` `doctype-not-allowed`, before any parser sees an entity."""
    if _DOCTYPE not in data:
        return
    # The word may stand in a text or comment: walk over the prolog, where alone it is a doctype.
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while True:
        blanks = _BLANKS.match(data, at)
        at = blanks.end() if blanks else at
        if data.startswith(_DOCTYPE, at):
            line, column = place_of(data, at)
            raise Malformed("doctype-not-allowed", line=line, column=column)
        closing = b"?>" if data.startswith(b"<?", at) else b"-->" if data.startswith(b"<!--", at) else None
        end = -1 if closing is None else data.find(closing, at)
        if closing is None or end < 0:
            return
        at = end + len(closing)


def syntax_fault(error: etree.XMLSyntaxError, data: bytes) -> Malformed:
    """`control-character` or `not-well-formed`, with the place.

    libxml2 refuses every control character, under many names; asking it first keeps legal messages fast.
    """
    line, column = error.position
    raw = _CONTROL.search(data)
    if raw is not None:
        line, column = place_of(data, raw.start())
        return Malformed("control-character", line=line, column=column)
    if getattr(error, "code", None) == etree.ErrorTypes.ERR_INVALID_CHAR:
        reference = _control_reference(data, line)
        if reference is not None:
            line, column = place_of(data, reference.start())
            return Malformed("control-character", line=line, column=column, text=reference[0].decode())
    said = (error.msg or "").rpartition(", line ")[0] or error.msg
    return Malformed("not-well-formed", line=max(line, 1), column=max(column, 1), text=said)


def line_of(element: etree._Element) -> int | None:
    """Line of the element; None where libxml2 no longer knows it (it counts in 16 bits)."""
    line: object = element.sourceline
    return line if isinstance(line, int) and line != _UNKNOWN_LINE else None


def attribute_names(element: etree._Element) -> list[str]:
    """Names in document order. (`items()` of lxml takes time by the square of their number.)"""
    return element.keys()  # type: ignore[return-value]  # never bytes under Python 3


def _first_root(parser: etree.XMLPullParser) -> etree._Element | None:
    for _, element in parser.read_events():
        if isinstance(element, etree._Element) and element.getparent() is None:
            return element
    return None


def _control_reference(data: bytes, line: int) -> re.Match[bytes] | None:
    """The first reference to a control character on a line."""
    at, seen = 1, 0
    for match in _REFERENCE.finditer(data):
        at += data.count(b"\n", seen, match.start())
        seen = match.start()
        if at > line:
            break
        if at == line and _is_control(match):
            return match
    return None


def _is_control(match: re.Match[bytes]) -> bool:
    value = int(match[1], 16) if match[1] else int(match[2])
    return (value < ord(" ") and value not in _NOT_CONTROL) or value in (0xFFFE, 0xFFFF)
