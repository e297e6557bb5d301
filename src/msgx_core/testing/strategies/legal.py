"""Legal messages of every kind, whole: `META`, body and the XML that says it (wire)."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from hypothesis import strategies as st

from msgx_core.model.message import MsgKind, Node
from msgx_core.model.schedule import Coverage, Days, Interval, Nothing
from msgx_core.model.sis import (
    CATEGORIES,
    FLOP_ROWS,
    MODEL_TAGS,
    RSTA,
    RSTA_STATUSES,
    RSTA_TYPES,
    OnEmpty,
    whitelist,
)
from msgx_core.testing.strategies.tags import empty, plain_records, plain_tags, values
from msgx_core.testing.strategies.texts import FLIDS, TIMES, WORDS, local_times, wire_time
from msgx_core.testing.wire import PlainValue, WireMessage, meta

UNSUPPORTED = (
    *(("SCHS", "DNLD"), ("CITY", "DNLD"), ("VIPL", "UPD"), ("STTS", "RESP"), ("XXXX", "YY")),
    *(("SCHD", "UPD"), ("ARPT", "XXX"), ("RSTA", "ADD")),
)
"""Types, and sub-types of known types, that are passed over (wire)."""

SEQNS = st.integers(1, 10**9).map(str)
DTTMS = local_times(datetime(2000, 1, 1), datetime(2099, 12, 31)).map("{:%Y%m%d%H%M%S}".format)


def metas(type_: str, styps: str | Sequence[str]) -> st.SearchStrategy[dict[str, str]]:
    """A `META` of that type and one of these sub-types."""
    styp = st.just(styps) if isinstance(styps, str) else st.sampled_from(styps)
    return st.builds(meta, st.just(type_), styp, SEQNS, DTTMS)


def times_within(coverage: Coverage, zone: tzinfo = UTC) -> st.SearchStrategy[str]:
    """`SODT`s that lie inside a coverage, for an airport whose day changes at midnight of that zone."""
    match coverage:
        case Days(days):
            starts = [datetime(day.year, day.month, day.day) for day in sorted(days)]
            whole = [local_times(at, at + timedelta(hours=24, minutes=-1)) for at in starts]
            return st.one_of(whole).map(wire_time)
        case Interval(first, last):
            local = [at.astimezone(zone).replace(tzinfo=None) for at in (first, last)]
            return local_times(*local).map(wire_time)
        case Nothing():
            return TIMES


@st.composite
def schedules(
    draw: st.DrawFn,
    coverage: Coverage | None = None,
    *,
    styp: str | None = None,
    flids: st.SearchStrategy[int] = FLIDS,
    zone: tzinfo = UTC,
    among: Sequence[str] = MODEL_TAGS,
    max_records: int = 4,
    max_tags: int = 8,
) -> WireMessage:
    """A schedule that keeps every promise of its coverage.

    `Days`: an answer (`RESP`) whose records all have a `SODT` of one of these days. `Interval`: a `DNLD`
    whose records all have a `SODT` inside it. `Nothing`, which is the default: a `DNLD` of any records, also
    without `SODT`. `styp` says otherwise. What a schedule covers in the end is decided by request and
    setting (D-11).

    >>> from datetime import date
    >>> from hypothesis import given
    >>> @given(schedules(Days(frozenset({date(2027, 3, 14)}))))
    ... def is_of_that_day(message):
    ...     assert message.styp == "RESP" and int(message.recs) == len(message.flights)
    ...     assert all(record["SODT"].startswith("14MAR27") for record in message.flights)
    >>> is_of_that_day()
    """
    covers = Nothing() if coverage is None else coverage
    wanted = styp or ("RESP" if isinstance(covers, Days) else "DNLD")
    sodt: st.SearchStrategy[str] | None = times_within(covers, zone)
    if isinstance(covers, Nothing) and draw(st.booleans()):
        sodt = None
    record = plain_records(flids=flids, sodt=sodt, among=among, max_tags=max_tags)
    records = draw(st.lists(record, max_size=max_records, unique_by=lambda r: int(str(r["FLID"]))))
    head = draw(metas("SCHD", wanted))
    return WireMessage(MsgKind.SCHEDULE, head, str(len(records)), tuple(records))


@st.composite
def adfts(
    draw: st.DrawFn,
    *,
    flids: st.SearchStrategy[int] = FLIDS,
    sodt: st.SearchStrategy[str] | None = None,
    among: Sequence[str] = MODEL_TAGS,
    max_tags: int = 8,
) -> WireMessage:
    """One extra flight: exactly one record, `RECS` being 1 or not there.

    >>> from hypothesis import given
    >>> @given(adfts())
    ... def has_one_record(message):
    ...     assert len(message.flights) == 1 and message.recs in (None, "1")
    >>> has_one_record()
    """
    record = draw(plain_records(flids=flids, sodt=sodt, among=among, max_tags=max_tags))
    recs = draw(st.sampled_from([None, "1"]))
    return WireMessage(MsgKind.ADFT, draw(metas("SCHD", "ADFT")), recs, (record,))


@st.composite
def flops(
    draw: st.DrawFn,
    styps: str | Several[str] = "extended",
    *,
    flids: st.SearchStrategy[int] = FLIDS,
    noise: bool = True,
) -> WireMessage:
    """One change of one flight: tags of the row of its STYP, some of them empty where that is legal.

    `styps` is the name of a whitelist (`baseline`, `all`, `extended`) or sub-types. With `noise` other tags
    stand there too; they are never parsed (D-18).

    >>> from hypothesis import given
    >>> @given(flops("baseline"))
    ... def carries_its_own_tag(message):
    ...     assert set(message.flights[0]) & set(FLOP_ROWS[message.styp].tags)
    >>> carries_its_own_tag()
    """
    names = whitelist(styps) if isinstance(styps, str) else styps
    row = FLOP_ROWS[draw(st.sampled_from(sorted(names)))]
    tags = draw(st.lists(st.sampled_from(row.tags), min_size=1, unique=True))
    content: dict[str, PlainValue] = {"FLID": str(draw(flids))}
    for tag in tags:
        legal = values(tag)
        content[tag] = draw(legal if row.on_empty is OnEmpty.MALFORMED else legal | st.just(empty(tag)))
    others = draw(plain_tags(max_tags=3)) if noise else {}
    more = {tag: value for tag, value in others.items() if tag not in row.tags}
    return WireMessage(MsgKind.FLOP, draw(metas("FLOP", row.styp)), flights=({**content, **more},))


def fdels(*, flids: st.SearchStrategy[int] = FLIDS) -> st.SearchStrategy[WireMessage]:
    """A deletion: `FLID` and an empty `FDEL`.

    >>> from hypothesis import given
    >>> @given(fdels())
    ... def names_a_flight(message):
    ...     assert message.flights[0]["FDEL"] == "" and int(message.flights[0]["FLID"]) > 0
    >>> names_a_flight()
    """
    content = flids.map(lambda flid: ({"FLID": str(flid), "FDEL": ""},))
    return st.builds(
        lambda head, flights: WireMessage(MsgKind.FDEL, head, flights=flights),
        metas("FLOP", "FDEL"),
        content,
    )


def nodes(tag: str = "ARPT", *, texts: st.SearchStrategy[str] = WORDS) -> st.SearchStrategy[Node]:
    """Reference records without a key: trees with repetition, attributes and empty tags."""
    return _nodes(tag, texts)


@lru_cache
def _nodes(tag: str, texts: st.SearchStrategy[str]) -> st.SearchStrategy[Node]:
    tags = st.sampled_from(["ABBR", "REGC", "SUBC", "CODE", "X"])
    attributes = st.dictionaries(st.sampled_from(["CODE", "MVIN", "FLIN"]), texts, max_size=2)
    text = st.just("") | texts
    none = st.just(())
    parts = st.builds(Node, tags, text, attributes, none)
    for most in (2, 3):
        parts = st.builds(Node, tags, text, attributes, none | st.lists(parts, max_size=most).map(tuple))
    return st.builds(Node, st.just(tag), text, attributes, st.lists(parts, max_size=2).map(tuple))


@st.composite
def references(
    draw: st.DrawFn,
    rtypes: Several[str] = tuple(CATEGORIES),
    *,
    styps: Sequence[str] = ("DNLD", "RESP", "ADD", "UPD", "DEL"),
    keys: st.SearchStrategy[str] = WORDS,
    max_records: int = 3,
) -> WireMessage:
    """Reference data of one of 13 categories; in a full list no key is twice.

    >>> from hypothesis import given
    >>> @given(references(["GLST"], styps=["UPD"]))
    ... def each_record_has_its_key(message):
    ...     assert all(record.value("GCOD") for record in message.records)
    >>> each_record_has_its_key()
    """
    rtype = draw(st.sampled_from(sorted(rtypes)))
    head = draw(metas(rtype, styps))
    names = draw(st.lists(keys, min_size=1, max_size=max_records, unique=head["STYP"] in ("DNLD", "RESP")))
    records = tuple(_keyed(draw(nodes(rtype)), CATEGORIES[rtype].key, name) for name in names)
    return WireMessage(MsgKind.REFERENCE, head, str(len(records)), records=records)


@st.composite
def resource_statuses(draw: st.DrawFn) -> WireMessage:
    """`RSTA`: one record at most in a `DNLD`, several in a `RESP`; a window ends after it begins.

    >>> from hypothesis import given
    >>> @given(resource_statuses())
    ... def has_a_known_status(message):
    ...     assert {record.value("STAT") for record in message.records} <= {"E", "D"}
    >>> has_a_known_status()
    """
    head = draw(metas(RSTA, ["DNLD", "RESP"]))
    most = 1 if head["STYP"] == "DNLD" else 3
    records = tuple(draw(st.lists(_status(), max_size=most)))
    return WireMessage(MsgKind.RESOURCE_STATUS, head, str(len(records)), records=records)


@st.composite
def _status(draw: st.DrawFn) -> Node:
    values_ = {
        "RTYP": draw(st.sampled_from(sorted(RSTA_TYPES))),
        "RSID": draw(WORDS),
        "STAT": draw(st.sampled_from(sorted(RSTA_STATUSES))),
    }
    start = draw(local_times(datetime(2000, 1, 1), datetime(2090, 1, 1)))
    window = {"STRT": start, "ENDT": start + timedelta(minutes=draw(st.integers(1, 600_000)))}
    for tag in draw(st.lists(st.sampled_from(["STRT", "ENDT"]), unique=True)):
        values_[tag] = wire_time(window[tag])
    return Node(RSTA, children=tuple(Node(tag, text) for tag, text in values_.items()))


def error_answers() -> st.SearchStrategy[WireMessage]:
    """`EROR`: all of it is optional; it may name the request in error by `ETYP` or `ESTP`.

    >>> from hypothesis import given
    >>> @given(error_answers())
    ... def is_an_answer(message):
    ...     assert message.type == "EROR"
    >>> is_an_answer()
    """
    named = st.sampled_from(["RQFD", "RQRD", "SCHD", *CATEGORIES, RSTA, "NONE"])
    optional = {"ERCD": WORDS, "ERTX": WORDS, "ETYP": named, "ESTP": named}
    return st.builds(
        lambda head, answer: WireMessage(MsgKind.ERROR_ANSWER, head, answer=answer),
        metas("EROR", ["NONE", "RESP", "DNLD"]),
        st.fixed_dictionaries({}, optional=optional),
    )


def unsupported() -> st.SearchStrategy[WireMessage]:
    """Types and sub-types that are kept and passed over, with some body.

    >>> from hypothesis import given
    >>> @given(unsupported())
    ... def is_not_ours(message):
    ...     assert message.kind is MsgKind.UNSUPPORTED
    >>> is_not_ours()
    """
    return st.builds(
        lambda head, records: WireMessage(MsgKind.UNSUPPORTED, head, str(len(records)), records=records),
        st.sampled_from(UNSUPPORTED).flatmap(lambda pair: metas(*pair)),
        st.lists(nodes("BODY"), max_size=2).map(tuple),
    )


def messages() -> st.SearchStrategy[WireMessage]:
    """Any legal message.

    >>> from hypothesis import given
    >>> @given(messages())
    ... def has_five_values_in_meta(message):
    ...     assert len(message.meta) == 5 and message.fault is None
    >>> has_five_values_in_meta()
    """
    flights = (schedules(), adfts(), flops(), fdels())
    return st.one_of(*flights, references(), resource_statuses(), error_answers(), unsupported())


def _keyed(node: Node, tag: str, key: str) -> Node:
    return Node(node.tag, node.text, node.attributes, (Node(tag, key), *node.children))
