"""Records of any text, for codecs: what goes in and what must come out, legal or not."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from hypothesis import strategies as st

from msgx_core.model.message import Element
from msgx_core.model.sis import COLLECTIONS, SCALARS, SINGLES
from msgx_core.testing.strategies.texts import XML_TEXT
from msgx_core.testing.wire import element_xml

_PADS = st.sampled_from(["", " ", "\n  ", "\t"])


@st.composite
def raw_records(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """The content of a `FLTR` with what must come out of it: `flid`, `values`, `elements`.

    >>> from hypothesis import given
    >>> @given(raw_records())
    ... def knows_its_flid(case):
    ...     xml, expected = case
    ...     assert ("<FLID>" in xml) == (expected["flid"] is not None)
    >>> knows_its_flid()
    """
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
