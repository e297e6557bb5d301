"""One record: values checked, collections in order and within limits, bad values dropped or fatal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.errors import Malformed, MessageError, Protocol
from msgx_core.model.message import Element, FlightRecord
from msgx_core.model.sis import COLLECTIONS, MAX_VALUE_CHARS, SCALARS, SINGLES, Collection, Kind
from msgx_core.rules.records import RecordValues, read_record
from msgx_core.testing.strategies import elements, empty, plain_tags, records
from tests.unit.core.build import Tag, record

NUMBERED = sorted(tag for tag, spec in COLLECTIONS.items() if spec.sequence is not None)
LIMITED = sorted(tag for tag, spec in COLLECTIONS.items() if spec.limit is not None)


def read(**sent: Tag) -> RecordValues:
    return read_record(record(7, **sent), 7)


def read_strictly(**sent: Tag) -> RecordValues:
    """As a FLOP is read."""
    return read_record(record(7, **sent), 7, strict=True)


def filled(spec: Collection, n: int) -> list[Element]:
    return [{spec.sequence or "CODE": "1", spec.first_key: f"R{i}"} for i in range(n)]


@given(plain_tags(empties=False))
def test_what_was_sent_is_what_is_kept(sent: dict[str, Tag]) -> None:
    """R-259, wire: text as sent, elements in message order; only FLID kinds become numbers."""
    read = read_record(record(7, **sent), 7, max_points=99)
    assert (read.dropped, read.empty, read.truncated) == ((), frozenset(), 0)
    for tag, value in sent.items():
        if tag in SCALARS:
            assert str(read.values[tag]).lstrip("0") == str(value).lstrip("0")
        else:
            assert read.values[tag] == (value if isinstance(value, dict) else tuple(value))


@pytest.mark.parametrize("tag", [*SCALARS, *SINGLES, *COLLECTIONS])
def test_every_tag_has_an_empty_form(tag: str) -> None:
    """D-14, wire (Empty collection): the empty form is listed as empty and is no value."""
    read = read_record(record(7, **{tag: empty(tag)}), 7)
    assert (dict(read.values), read.empty) == ({}, frozenset({tag}))


@pytest.mark.parametrize("tag", LIMITED)
def test_a_full_collection_is_legal_and_one_more_is_not(tag: str) -> None:
    """D-19, R-260 to R-269: limits 99, `PSDT` 9, `ROUT` 6, `ERUT` 7; over it `collection-overflow:<tag>`."""
    spec = COLLECTIONS[tag]
    assert spec.limit is not None
    assert tag in read(**{tag: filled(spec, spec.limit)}).values
    with pytest.raises(Protocol, match=rf"^collection-overflow:{tag}$") as caught:
        read(**{tag: filled(spec, spec.limit + 1)})
    assert (caught.value.flid, caught.value.ordinal) == (7, spec.limit)


def test_the_limits_are_those_of_the_table() -> None:
    """R-260 to R-269: the numbers themselves; `DELY` has none."""
    limits = {tag: spec.limit for tag, spec in COLLECTIONS.items()}
    nine = dict.fromkeys(["GTDT", "CKDT", "CLDT", "CHDT", "CHOT", "ABTM"], 99)
    assert limits == {**nine, "PSDT": 9, "DELY": None, "ROUT": 6, "ERUT": 7}


def test_delays_have_no_limit() -> None:
    """R-267: no count limit is given for `DELY`."""
    assert len(read(DELY=[{"CODE": str(n)} for n in range(500)]).values["DELY"]) == 500  # type: ignore[arg-type]


@pytest.mark.parametrize(("tag", "sent"), [("ROUT", 6), ("ERUT", 7)])
def test_routes_keep_the_first_four_points(tag: str, sent: int) -> None:
    """D-19, R-245, R-269: 6 and 7 are accepted, the first 4 of each kept, the cut counted."""
    read_ = read(**{tag: filled(COLLECTIONS[tag], sent)})
    assert [e["APCD"] for e in read_.values[tag]] == ["R0", "R1", "R2", "R3"]  # type: ignore[union-attr, index]
    assert read_.truncated == sent - 4


def test_routes_of_both_kinds_are_cut_apart() -> None:
    """R-276: `ROUT` and `ERUT` are independent; equal sequence numbers do not overwrite each other."""
    read_ = read(ROUT=filled(COLLECTIONS["ROUT"], 4), ERUT=filled(COLLECTIONS["ERUT"], 5))
    assert (len(read_.values["ROUT"]), len(read_.values["ERUT"])) == (4, 4)  # type: ignore[arg-type]
    assert read_.truncated == 1


@pytest.mark.parametrize("tag", NUMBERED)
def test_a_zero_beside_real_elements_is_mixed(tag: str) -> None:
    """wire, D-12: `collection-mixed:<tag>` wherever the zero stands, before any limit."""
    spec = COLLECTIONS[tag]
    real = filled(spec, spec.limit or 1)
    for sent in ([{str(spec.sequence): "0"}, *real], [*real, {str(spec.sequence): "0"}]):
        with pytest.raises(Protocol, match=rf"^collection-mixed:{tag}$"):
            read(**{tag: sent})


@pytest.mark.parametrize(
    "sent",
    [
        [{"GTNO": "0"}],
        [{"GTNO": "00"}],
        [{}],
        [{"GTNO": ""}],
        [{"GTNO": "0", "GATE": "", "PGOT": ""}],
        [{}, {"GTNO": "0"}],
    ],
)
def test_forms_of_no_gate(sent: list[Element]) -> None:
    """wire (Empty collection), R-227: sequence 0 or none, no content: none now; blank is no content."""
    assert read(GTDT=sent).empty == {"GTDT"}


@pytest.mark.parametrize("sent", [[{}], [{"CODE": ""}], [{"CODE": "", "STRT": "", "DURA": "", "TEXT": ""}]])
def test_forms_of_no_delay(sent: list[Element]) -> None:
    """wire, H-43: `<DELY/>` without attributes means none; blank attributes are no attributes."""
    assert read(DELY=sent).empty == {"DELY"}


@pytest.mark.parametrize(
    "element", [{"TEXT": "fog"}, {"DURA": "0200"}, {"CODE": "YY", "STRT": "15DEC031605"}]
)
def test_any_content_makes_a_delay(element: Element) -> None:
    """R-267: code, start, duration and text are all optional, one of them is enough."""
    assert read(DELY=[element]).values == {"DELY": (element,)}


def test_sequence_numbers_are_kept_and_never_keys() -> None:
    """R-273 to R-275: missing, repeated and unordered numbers and equal resources all stay, in order."""
    sent = [
        {"GTNO": "2", "GATE": "B1"},
        {"GATE": "B1"},
        {"GTNO": "2", "GATE": "B1"},
        {"GTNO": "1", "GATE": "B0"},
    ]
    assert read(GTDT=sent).values["GTDT"] == tuple(sent)


def test_zero_with_content_is_a_real_element() -> None:
    """wire: only an element without content is the empty form."""
    assert read(CKDT=[{"CKNO": "0", "CHKC": "01"}, {"CKNO": "1", "CHKC": "02"}]).empty == frozenset()


def test_blank_children_are_no_values() -> None:
    """H-42, R-232: an empty `CHTM` inside an element deletes that time."""
    assert read(CHOT=[{"CSNO": "1", "CHTM": "", "CHST": "S1"}]).values["CHOT"] == (
        {"CSNO": "1", "CHST": "S1"},
    )


@pytest.mark.parametrize(
    ("tag", "element", "kept"),
    [
        ("FDIV", {"DDES": "KMG", "DDIR": "TO", "TEXT": "fog"}, True),
        ("FDIV", {"DDES": "", "DDIR": "TO", "TEXT": "fog"}, False),
        ("FDIV", {}, False),
        ("FDIV", {"DDES": "KMG"}, True),
        ("FRET", {"REID": "A", "TEXT": "technical"}, True),
        ("FRET", {"REID": "A"}, False),
        ("FRET", {"REID": "G", "TEXT": ""}, False),
    ],
)
def test_diversion_and_return(tag: str, element: Element, kept: bool) -> None:
    """R-237, R-240, wire: cleared by `DDES=""` or an empty element; `REID` alone says nothing."""
    expected = {key: text for key, text in element.items() if text}
    assert read(**{tag: element}).values == ({tag: expected} if kept else {})


BAD = [
    ("SODT", "32MAR271200"),
    ("ESTT", "soon"),
    ("MAXP", "many"),
    ("LBWT", "1,5"),
    ("MAID", "x"),
    ("TAID", "0"),
]


@pytest.mark.parametrize(("tag", "text"), BAD)
def test_a_bad_value_is_dropped_or_fatal(tag: str, text: str) -> None:
    """D-14: taken as absent and listed in a complete record; D-18: `MALFORMED` in a FLOP."""
    lenient = read(**{tag: text})
    assert (dict(lenient.values), lenient.empty) == ({}, frozenset())
    assert [(b.flid, b.tag, b.text) for b in lenient.dropped] == [(7, tag, text)]
    what = "time" if SCALARS[tag].kind is Kind.TIME else "number"
    with pytest.raises(Malformed, match=rf"^bad-{what}:{tag}$"):
        read_strictly(**{tag: text})


def test_a_bad_time_inside_an_element_leaves_the_element() -> None:
    """D-14: that value is taken as absent, not the gate."""
    read_ = read(GTDT=[{"GTNO": "1", "GATE": "B1", "PGOT": "noon"}, {"GTNO": "2", "GATE": "B2"}])
    assert read_.values["GTDT"] == ({"GTNO": "1", "GATE": "B1"}, {"GTNO": "2", "GATE": "B2"})
    with pytest.raises(Malformed, match=r"^bad-time:PGOT$") as caught:
        read_strictly(GTDT=[{"GATE": "B1"}, {"GATE": "B2", "PGOT": "noon"}])
    assert caught.value.ordinal == 1


def test_an_element_of_nothing_but_a_bad_value_leaves_no_empty_object() -> None:
    """D-14, R-364: a value taken as absent leaves nothing behind that a consumer would see as an element."""
    assert {} not in read(DELY=[{"STRT": "noon"}]).values.get("DELY", ())  # type: ignore[operator]


@pytest.mark.parametrize("tag", ["FTSS", "PADT"])
def test_codes_among_the_times_are_text(tag: str) -> None:
    """D-18, wire (Times): `FTSS` and `PADT` are text whatever they look like."""
    assert read_strictly(**{tag: "not a time"}).values == {tag: "not a time"}


@pytest.mark.parametrize("sent", [{"REMC": "x"}, {"FDIV": {"DDES": "x"}}, {"GTDT": [{"GATE": "x"}]}])
def test_values_end_at_four_thousand_characters(sent: dict[str, Tag]) -> None:
    """D-25, H-05: `value-too-long:<tag>`, characters not bytes."""

    def grown(value: Tag, n: int) -> Tag:
        if isinstance(value, str):
            return "中" * n
        if isinstance(value, dict):
            return dict.fromkeys(value, "中" * n)
        return [dict.fromkeys(element, "中" * n) for element in value]

    (tag, value), limit = next(iter(sent.items())), MAX_VALUE_CHARS
    assert tag in read(**{tag: grown(value, limit)}).values
    with pytest.raises(Protocol, match=r"^value-too-long:"):
        read(**{tag: grown(value, limit + 1)})


@given(records())
def test_only_the_wanted_tags_are_looked_at(sent: FlightRecord) -> None:
    """D-18: other tags are never parsed."""
    read_ = read_record(sent, 7, tags=("GTDT",), strict=True)
    assert set(read_.values) | read_.empty <= {"GTDT"}


@given(st.data())
def test_no_text_makes_reading_fail_in_another_way(data: st.DataObject) -> None:
    """D-25: whatever a value says, the answer is a record or an error of the closed list."""
    anything = dict.fromkeys(Kind, st.text(max_size=12))
    spec = data.draw(st.sampled_from(list(COLLECTIONS.values())))
    several = data.draw(st.lists(elements(spec, anything), min_size=1, max_size=12))
    tag = data.draw(st.sampled_from(list(SCALARS)))
    sent: dict[str, Tag] = {tag: data.draw(st.text(max_size=12)), spec.tag: several}
    for reading in (read, read_strictly):
        reason = ""
        try:
            reading(**sent)
        except MessageError as error:
            reason = error.reason.split(":")[0]
        assert reason in {"", "bad-time", "bad-number", "collection-mixed", "collection-overflow"}
