"""Hypothesis strategies that follow the tag tables: a new tag is tried out without a word here."""

from __future__ import annotations

from datetime import datetime

from hypothesis import strategies as st
from tests.unit.core.build import Tag, record

from msgx_core.model.flight import Fields
from msgx_core.model.message import Element, FlightRecord
from msgx_core.model.sis import COLLECTIONS, SCALARS, SINGLES, Collection, Kind
from msgx_core.rules.merge import merge_complete
from msgx_core.rules.records import read_record
from msgx_core.rules.values import format_time

FLIDS = st.integers(1, 999_999_999_999)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6).filter(
    str.strip
)
TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31, 23, 59)).map(format_time)
DURATIONS = st.builds("{:02}{:02}".format, st.integers(0, 99), st.integers(0, 59))

LEGAL: dict[Kind, st.SearchStrategy[str]] = {
    Kind.TEXT: WORDS.map(str.strip),
    Kind.TIME: TIMES,
    Kind.DURATION: DURATIONS,
    Kind.INTEGER: st.integers(-999, 10**18 - 1).map(str),
    Kind.DECIMAL: st.decimals(-999, 99_999, places=2).map(str),
    Kind.FLID: FLIDS.map(str),
}
"""Legal text of each kind."""


def elements_of(
    spec: Collection, texts: dict[Kind, st.SearchStrategy[str]] = LEGAL
) -> st.SearchStrategy[Element]:
    """One real element: any of its keys, at least one, the sequence number being anything or missing."""
    kinds = {**spec.attributes, **spec.keys}
    content = st.fixed_dictionaries({}, optional={key: texts[kind] for key, kind in kinds.items()}).filter(
        bool
    )
    if spec.sequence is None:
        return content
    sequence = st.fixed_dictionaries({}, optional={spec.sequence: st.sampled_from(["0", "1", "2", "x"])})
    return st.builds(lambda head, body: {**head, **body}, sequence, content)


def _tag(tag: str) -> st.SearchStrategy[Tag]:
    if tag in SCALARS:
        return LEGAL[SCALARS[tag].kind]
    if tag in COLLECTIONS:
        return st.lists(elements_of(COLLECTIONS[tag]), min_size=1, max_size=3)
    keys = SINGLES[tag].attributes
    return st.fixed_dictionaries(dict.fromkeys((*keys, "TEXT"), LEGAL[Kind.TEXT]))


def empty_form(tag: str) -> Tag:
    """How the tag looks on the wire when it is empty."""
    if tag in SCALARS:
        return ""
    if tag in SINGLES:
        return dict.fromkeys(SINGLES[tag].attributes, "")
    sequence = COLLECTIONS[tag].sequence
    return [{} if sequence is None else {sequence: "0"}]


TAG = {tag: _tag(tag) for tag in (*SCALARS, *SINGLES, *COLLECTIONS)}
TAG_OR_EMPTY = {tag: st.one_of(values, st.just(empty_form(tag))) for tag, values in TAG.items()}
NAMES = st.lists(st.sampled_from(sorted(TAG)), unique=True, max_size=8)


@st.composite
def tags(draw: st.DrawFn, *, empties: bool = True) -> dict[str, Tag]:
    """Some tags of the model with legal values, a few of them in their empty form."""
    values = TAG_OR_EMPTY if empties else TAG
    return {tag: draw(values[tag]) for tag in draw(NAMES)}


def records(flid: int = 7, *, empties: bool = True) -> st.SearchStrategy[FlightRecord]:
    """A record of that flight."""
    return tags(empties=empties).map(lambda sent: record(flid, **sent))


def fields() -> st.SearchStrategy[Fields]:
    """What a stored flight may hold."""
    return records(empties=False).map(lambda sent: merge_complete(read_record(sent, 7)))
