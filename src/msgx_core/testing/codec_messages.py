"""Messages for the codec suite: builders of wire text, and strategies driven by the tag tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st

from msgx_core.model.message import Element, Node
from msgx_core.model.sis import COLLECTIONS, SCALARS, SINGLES

PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
META: Mapping[str, str] = {
    "SNDR": "AODB",
    "SEQN": "17",
    "DTTM": "20270314060000",
    "TYPE": "FLOP",
    "STYP": "GTDT",
}

XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20
).map(str.strip)
"""Trimmed text that XML can hold."""

_PADS = st.sampled_from(["", " ", "\n  ", "\t"])


def meta(**changes: str | None) -> str:
    """A `META` on one line; a value of None leaves the tag out."""
    values = {**META, **changes}
    return "<META>" + "".join(f"<{t}>{v}</{t}>" for t, v in values.items() if v is not None) + "</META>"


def message(body: str = "", type_: str = "FLOP", styp: str = "GTDT", *, meta_last: bool = False) -> str:
    """A message: prolog, `MSG` on line 2, `META` and the body."""
    head = meta(TYPE=type_, STYP=styp)
    inside = body + head if meta_last else head + body
    return f'{PROLOG}<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{inside}</MSG>'


def schedule(*records: str, recs: int | None = None, styp: str = "DNLD", meta_last: bool = False) -> str:
    """A schedule of `FLTR` texts; each record starts on a line of its own, the first on line 3."""
    declared = len(records) if recs is None else recs
    body = f"<SCHD><RECS>{declared}</RECS>" + "".join(f"\n<FLTR>{r}</FLTR>" for r in records) + "</SCHD>"
    return message(body, "SCHD", styp, meta_last=meta_last)


def element_xml(tag: str, element: Element, pad: str = "") -> str:
    """One single-value element or collection element, each key where the tables say it stands."""
    row, single = COLLECTIONS.get(tag), SINGLES.get(tag)
    names = single.attributes if single else (row.sequence, *row.attributes) if row else ()
    attributes = "".join(f" {k}={quoteattr(v)}" for k, v in element.items() if k in names)
    children = "".join(
        f"<{k}>{pad}{escape(v)}{pad}</{k}>" for k, v in element.items() if k not in names and k != "TEXT"
    )
    return f"<{tag}{attributes}>{escape(element.get('TEXT', ''))}{children}</{tag}>"


def node_xml(node: Node) -> str:
    """A reference record or a part of one."""
    if node.tag == "#text":
        return escape(node.text)
    attributes = "".join(f" {k}={quoteattr(v)}" for k, v in node.attributes.items())
    return f"<{node.tag}{attributes}>{escape(node.text)}{''.join(map(node_xml, node.children))}</{node.tag}>"


def nodes(tag: str = "ARPT") -> st.SearchStrategy[Node]:
    """Reference records: trees with repetition, attributes and empty tags."""
    tags = st.sampled_from(["ITCD", "ABBR", "REGC", "SUBC", "CODE", "X"])
    attributes = st.dictionaries(st.sampled_from(["CODE", "MVIN", "FLIN"]), XML_TEXT, max_size=2)

    def inner(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.builds(Node, tags, XML_TEXT, attributes, st.lists(children, max_size=4).map(tuple))

    parts = st.recursive(st.builds(Node, tags, XML_TEXT, attributes), inner, max_leaves=8)
    return st.builds(Node, st.just(tag), XML_TEXT, attributes, st.lists(parts, max_size=5).map(tuple))


@st.composite
def flights(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """The content of a `FLTR` with what must come out of it: `flid`, `values`, `elements`."""
    pad = draw(_PADS)
    flid = draw(st.none() | st.from_regex(r"[0-9]{1,12}", fullmatch=True))
    values = draw(st.dictionaries(st.sampled_from(list(SCALARS)), XML_TEXT, max_size=12))
    elements: dict[str, tuple[Element, ...]] = {}
    for tag in draw(st.lists(st.sampled_from([*SINGLES, *COLLECTIONS]), unique=True, max_size=4)):
        elements[tag] = tuple(draw(st.lists(_elements(tag), min_size=1, max_size=3)))
    parts = [] if flid is None else [f"<FLID>{pad}{flid}{pad}</FLID>"]
    parts += [f"<{tag}>{pad}{escape(text)}{pad}</{tag}>" for tag, text in values.items()]
    parts += [element_xml(tag, item, pad) for tag, items in elements.items() for item in items]
    xml = pad.join(draw(st.permutations(parts)) if not elements else parts)
    return xml, {"flid": flid, "values": values, "elements": elements}


def _elements(tag: str) -> st.SearchStrategy[dict[str, str]]:
    row, single = COLLECTIONS.get(tag), SINGLES.get(tag)
    keys: list[str] = list(single.attributes) if single else []
    if row is not None:
        keys = [*row.attributes, *row.keys, *([row.sequence] if row.sequence else [])]
    flat = st.dictionaries(st.sampled_from(keys), XML_TEXT)
    if single is None and (row is None or not row.has_text):
        return flat
    texts = st.dictionaries(st.just("TEXT"), XML_TEXT.filter(bool))
    return st.builds(lambda left, right: left | right, flat, texts)
