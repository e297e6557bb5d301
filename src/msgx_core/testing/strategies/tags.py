"""Values of tags and whole records, as plain data; a new line of the tag tables is tried by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from msgx_core.model.sis import COLLECTIONS, MODEL_TAGS, SCALARS, SINGLES, Collection, Kind
from msgx_core.testing.strategies.texts import FLIDS, LEGAL
from msgx_core.testing.wire import PlainRecord, PlainValue

Texts = Mapping[Kind, st.SearchStrategy[str]]


def _with_text(content: dict[str, str], text: str | None) -> dict[str, str]:
    return content if text is None else {**content, "TEXT": text}


def elements(spec: Collection, texts: Texts = LEGAL) -> st.SearchStrategy[dict[str, str]]:
    """One real element: any of its keys, at least one; the sequence number may be anything or missing."""
    kinds = {**spec.attributes, **spec.keys}
    content = st.fixed_dictionaries({}, optional={key: texts[kind] for key, kind in kinds.items()})
    if spec.has_text:
        content = st.builds(_with_text, content, st.none() | texts[Kind.TEXT])
    content = content.filter(bool)
    if spec.sequence is None:
        return content
    numbers = st.sampled_from(["0", "1", "2", "x"])
    sequence = st.fixed_dictionaries({}, optional={spec.sequence: numbers})
    return st.builds(lambda head, body: {**head, **body}, sequence, content)


def values(tag: str, *, max_elements: int = 3) -> st.SearchStrategy[PlainValue]:
    """Legal values of a tag that are not empty.

    >>> from hypothesis import given
    >>> @given(values("GTDT"))
    ... def holds_gates(gates):
    ...     assert 1 <= len(gates) <= 3 and all(gates)
    >>> holds_gates()
    """
    if tag in SCALARS:
        return LEGAL[SCALARS[tag].kind]
    if tag in COLLECTIONS:
        return st.lists(elements(COLLECTIONS[tag]), min_size=1, max_size=max_elements)
    keys = SINGLES[tag].attributes
    return st.fixed_dictionaries(dict.fromkeys((*keys, "TEXT"), LEGAL[Kind.TEXT]))


def empty(tag: str) -> PlainValue:
    """The empty tag: no text, blank attributes, or no elements."""
    if tag in SCALARS:
        return ""
    return dict.fromkeys(SINGLES[tag].attributes, "") if tag in SINGLES else []


_VALUES = {tag: values(tag) for tag in MODEL_TAGS}
_VALUES_OR_EMPTY = {tag: found | st.just(empty(tag)) for tag, found in _VALUES.items()}


@st.composite
def plain_tags(
    draw: st.DrawFn, *, empties: bool = True, among: Sequence[str] = MODEL_TAGS, max_tags: int = 8
) -> dict[str, PlainValue]:
    """Some tags of the model with legal values, a few of them empty."""
    names = draw(st.lists(st.sampled_from(among), unique=True, max_size=max_tags))
    return {tag: draw((_VALUES_OR_EMPTY if empties else _VALUES)[tag]) for tag in names}


@st.composite
def plain_records(
    draw: st.DrawFn,
    *,
    flids: st.SearchStrategy[int] = FLIDS,
    sodt: st.SearchStrategy[str] | None = None,
    empties: bool = True,
    among: Sequence[str] = MODEL_TAGS,
    max_tags: int = 8,
) -> PlainRecord:
    """What stands in one `FLTR`: `FLID` first; with `sodt`, a `SODT` of that; then some tags.

    >>> from hypothesis import given, strategies as st
    >>> @given(plain_records(flids=st.just(7), sodt=st.just("14MAR271200")))
    ... def is_of_flight_seven(record):
    ...     assert list(record)[:2] == ["FLID", "SODT"] and record["FLID"].lstrip("0") == "7"
    >>> is_of_flight_seven()
    """
    flid = str(draw(flids))
    # Compared by value: 7 and 0007 are the same flight.
    head: dict[str, PlainValue] = {"FLID": draw(st.sampled_from([flid, flid.zfill(12)]))}
    if sodt is not None:
        head["SODT"] = draw(sodt)
    tags = draw(plain_tags(empties=empties, among=among, max_tags=max_tags))
    return {**head, **{tag: value for tag, value in tags.items() if tag not in head}}
