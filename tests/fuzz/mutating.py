"""Strategies that damage a message: its bytes, or its tree so that it stays well-formed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache

from hypothesis import strategies as st
from lxml import etree

from msgx_core.model.sis import CATEGORIES, COLLECTIONS, SCALARS, SINGLES
from tests.fuzz.corpus import corpus

_WORDS = """
    < > </ /> & &amp; &#0; &#x1F; &#xD800; &#1114112; &lol; ]]> <![CDATA[ <!-- --> <?x?> <!DOCTYPE
    <MSG> </MSG> <META> <FLID>0</FLID> <RECS>10000</RECS> <RECS></RECS> xmlns='u' -1 1e9 ' " = :
    31FEB270805 14MAR272460 延误 0000000000000 999999999999999999999999999999
"""
_TOKENS = (
    *(word.encode() for word in _WORDS.split()),
    *(sign.encode() for sign in "\x00\x0b\u2028\ufffe𝄞\r\n"),
    *(b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x81", b"\xc0\x80", b"\xed\xa0\x80", b"\x84\x31\xa4\x37"),
)
_TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "0",
            "-1",
            "1",
            "9" * 12,
            "9" * 13,
            "1" * 4_001,
            "14MAR270805",
            "29FEB270000",
            "32MAR270805",
        ),
        *(
            "延误",
            "a|b",
            "&<>",
            "\u0085",
            "QX100",
            "B07",
            "AODB",
            "SCHD",
            "FLOP",
            "DNLD",
            "RESP",
            "ADFT",
            "FDEL",
        ),
    ]
) | st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=6)
_TAGS = st.sampled_from(
    [
        *SCALARS,
        *SINGLES,
        *COLLECTIONS,
        *CATEGORIES,
        *(
            "MSG",
            "META",
            "SNDR",
            "SEQN",
            "DTTM",
            "TYPE",
            "STYP",
            "SCHD",
            "FLOP",
            "FLTR",
            "FLID",
            "RECS",
            "RSTA",
        ),
        *("SRVT", "VIPF", "MAFL", "EROR", "a", "X.Y-Z", "{u}FLID"),
    ]
)
_ATTRIBUTES = st.sampled_from(
    [*(c.sequence for c in COLLECTIONS.values() if c.sequence), "CODE", "DDES", "x"]
)
ENCODINGS = ("utf-8", "utf-16", "gb18030", "us-ascii", "iso-8859-1")


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sample whose bytes were cut, doubled, overwritten, spliced or sprinkled with tokens."""
    raw = draw(st.sampled_from(corpus()))
    for _ in range(draw(st.integers(1, 6))):
        first, second = draw(st.integers(0, len(raw))), draw(st.integers(0, len(raw)))
        start, end = min(first, second), max(first, second)
        # Near one another as often as far apart: most of a message stays what it was.
        end = draw(st.sampled_from([end, min(end, start + 1), min(end, start + 8), start]))
        middle = draw(
            st.sampled_from([b"", raw[start:end] * 2, raw[start:end][::-1], *_TOKENS]) | st.binary(max_size=4)
        )
        raw = raw[:start] + middle + raw[end:]
    return raw


@st.composite
def reshaped(draw: st.DrawFn) -> bytes:
    """A well-formed message: a sample's tree, some branches moved, renamed, emptied or repeated."""
    root = etree.fromstring(draw(st.sampled_from(_well_formed())))
    for _ in range(draw(st.integers(1, 5))):
        places = list(root.iter("{*}*"))
        chosen = places[draw(st.integers(0, len(places) - 1))]
        draw(st.sampled_from(_EDITS))(draw, root, chosen, places)
    encoding = draw(st.sampled_from(ENCODINGS))
    raw = etree.tostring(root, encoding=encoding, xml_declaration=True)
    assert isinstance(raw, bytes)
    if draw(st.integers(0, 9)) == 0:
        raw = raw.replace(encoding.upper().encode(), draw(st.sampled_from([b"UTF-8", b"gb2312", b"x", b""])))
    return raw


@cache
def _well_formed() -> tuple[bytes, ...]:
    found = []
    for raw in corpus():
        with suppress(etree.XMLSyntaxError):
            etree.fromstring(raw, etree.XMLParser(resolve_entities=False, load_dtd=False))
            if b"<!DOCTYPE" not in raw:
                found.append(raw)
    return tuple(found)


Edit = Callable[[st.DrawFn, etree._Element, etree._Element, list[etree._Element]], None]


def _text(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    chosen.text = draw(_TEXTS)


def _tag(draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]) -> None:
    chosen.tag = draw(_TAGS)


def _attribute(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    chosen.set(draw(_ATTRIBUTES), draw(_TEXTS))


def _drop(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    parent = chosen.getparent()
    if parent is not None:
        parent.remove(chosen)


def _repeat(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    parent = chosen.getparent()
    if parent is not None:
        for _ in range(draw(st.sampled_from([1, 2, 10, 120]))):
            parent.append(_copy(chosen))


def _move(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    target = places[draw(st.integers(0, len(places) - 1))]
    if chosen is not root and chosen not in target.iterancestors() and target is not chosen:
        target.insert(draw(st.integers(0, 3)), chosen)


def _nest(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    for _ in range(draw(st.sampled_from([1, 20, 150]))):
        chosen = etree.SubElement(chosen, "DEEP")


def _child(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    etree.SubElement(chosen, draw(_TAGS)).text = draw(_TEXTS)


def _note(
    draw: st.DrawFn, root: etree._Element, chosen: etree._Element, places: list[etree._Element]
) -> None:
    note = draw(st.sampled_from([etree.Comment("a"), etree.ProcessingInstruction("x", "y")]))
    note.tail = draw(_TEXTS)
    chosen.insert(0, note)


_EDITS: tuple[Edit, ...] = (_text, _text, _tag, _attribute, _drop, _repeat, _move, _nest, _child, _note)


def _copy(element: etree._Element) -> etree._Element:
    return etree.fromstring(etree.tostring(element, with_tail=False))
