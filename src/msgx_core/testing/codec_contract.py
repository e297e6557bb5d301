"""The contract of `Codec`: what every decoder of SIS messages gives, refuses, and points at."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.errors import Protocol
from msgx_core.model.message import (
    ErrorAnswer,
    FlightRecord,
    MsgKind,
    Node,
    ReferencePackage,
    SchedulePackage,
)
from msgx_core.model.sis import CATEGORIES
from msgx_core.ports.codec import Codec, RawText
from msgx_core.testing.codec_faults import CodecFaults, shared_codec
from msgx_core.testing.codec_messages import message, meta, schedule
from msgx_core.testing.strategies import XML_TEXT, nodes, raw_records
from msgx_core.testing.wire import PROLOG, node_xml


def flight(codec: Codec, content: str, styp: str = "GTDT") -> FlightRecord:
    """The record of a `FLOP` with that content."""
    body = codec.decode(message(f"<FLOP>{content}</FLOP>", "FLOP", styp)).body
    assert isinstance(body, FlightRecord)
    return body


class CodecContract(CodecFaults):
    """Subclass it with a `codec` fixture whose limit is 10 MiB; the refusals come with it."""

    # Envelope

    def test_meta_is_trimmed_and_kept_as_text(self, codec: Codec) -> None:
        """R-050, H-03: the five values, white space around them gone, leading zeros kept."""
        padded = meta(SNDR=" AODB ", SEQN=" 0017", STYP="GTDT\n")
        raw = f"{PROLOG}<MSG>{padded}</MSG>"
        found = codec.decode(raw).meta
        assert (found.sndr, found.seqn, found.dttm, found.type, found.styp) == (
            "AODB",
            "0017",
            "20270314060000",
            "FLOP",
            "GTDT",
        )

    @pytest.mark.parametrize("large", [False, True])
    def test_meta_may_follow_the_body(self, codec: Codec, large: bool) -> None:
        """Wire: child order is not guaranteed, whatever the size."""
        records = [f"<FLID>{n}</FLID><REMC>{'x' * 900}</REMC>" for n in range(1, 801 if large else 3)]
        assert codec.decode(schedule(*records, meta_last=True)) == codec.decode(schedule(*records))

    @pytest.mark.parametrize(
        ("type_", "styp", "kind"),
        [
            ("SCHD", "DNLD", MsgKind.SCHEDULE),
            ("SCHD", "RESP", MsgKind.SCHEDULE),
            ("SCHD", "ADFT", MsgKind.ADFT),
            ("FLOP", "GTDT", MsgKind.FLOP),
            ("FLOP", "FDEL", MsgKind.FDEL),
            *((category, "UPD", MsgKind.REFERENCE) for category in CATEGORIES),
            ("RSTA", "DNLD", MsgKind.RESOURCE_STATUS),
            ("EROR", "RESP", MsgKind.ERROR_ANSWER),
            ("SCHS", "DNLD", MsgKind.UNSUPPORTED),
            ("schd", "DNLD", MsgKind.UNSUPPORTED),
        ],
    )
    def test_kind(self, codec: Codec, type_: str, styp: str, kind: MsgKind) -> None:
        """R-051, H-07: TYPE and STYP decide, compared with their case."""
        assert codec.decode(message("", type_, styp)).kind is kind

    def test_nothing_is_built_for_an_unsupported_message(self, codec: Codec) -> None:
        """R-058, R-060: the rest is not looked at, and it is not malformed."""
        found = codec.decode(message("<SCHS><RECS>0</RECS></SCHS>", "SCHS", "DNLD"))
        assert (found.body, dict(found.ignored)) == (None, {})

    # Flights

    @shared_codec
    @given(case=raw_records())
    def test_a_record_comes_out_as_it_went_in(self, codec: Codec, case: tuple[str, dict[str, Any]]) -> None:
        """R-068, D-14: every scalar, single-value element and collection of the tables, in order."""
        xml, expected = case
        package = codec.decode(schedule(xml)).body
        assert isinstance(package, SchedulePackage)
        (record,) = package.records
        assert record.flid == expected["flid"]
        assert record.values == expected["values"]
        assert record.elements == expected["elements"]
        assert record.tags == {*record.values, *record.elements} | ({"FLID"} if record.flid else set())

    def test_empty_tags_differ_from_absent_ones(self, codec: Codec) -> None:
        """Wire, D-14: three ways to write an empty tag; blank attributes are kept."""
        record = flight(codec, '<STND/><REMC></REMC><ACFT>  </ACFT><FDIV DDES=""/><FRET/><GTDT GTNO="0"/>')
        assert record.values == {"STND": "", "REMC": "", "ACFT": ""}
        assert record.elements == {"FDIV": ({"DDES": ""},), "FRET": ({},), "GTDT": ({"GTNO": "0"},)}

    def test_text_of_an_element_and_what_is_only_known(self, codec: Codec) -> None:
        """D-19, wire: own text under TEXT; route times are dropped without counting."""
        raw = message(
            '<FLOP><DELY CODE="93"> 晚到 </DELY><DELY/>'
            '<ROUT RTNO="1"><APCD>XIY</APCD><SCAT>1</SCAT></ROUT></FLOP>'
        )
        found = codec.decode(raw)
        assert isinstance(found.body, FlightRecord)
        assert found.body.elements == {
            "DELY": ({"CODE": "93", "TEXT": "晚到"}, {}),
            "ROUT": ({"RTNO": "1", "APCD": "XIY"},),
        }
        assert not found.ignored

    def test_cdata_comments_and_references_are_plain_text(self, codec: Codec) -> None:
        """H-03: how a text is written makes no difference."""
        record = flight(codec, "<REMC><![CDATA[a <b>]]> &amp;<!-- no --> &#20013;<?no?></REMC>")
        assert record.values == {"REMC": "a <b> & 中"}

    def test_raw_sections(self, codec: Codec) -> None:
        """R-270, R-271, D-39: all elements of the tag as XML text, without comments, tails and foreign
        declarations."""
        record = flight(codec, '<SRVT a="1"><!-- x -->贵宾<X/></SRVT>tail<VIPF/><SRVT>2</SRVT>')
        assert record.raw_sections == {"SRVT": '<SRVT a="1">贵宾<X/></SRVT><SRVT>2</SRVT>', "VIPF": "<VIPF/>"}
        assert record.tags == {"SRVT", "VIPF"}

    def test_what_is_outside_the_model_is_counted(self, codec: Codec) -> None:
        """R-069, H-11: unknown tags, keys and attributes, all in foreign namespaces; not FLID and RECS."""
        content = (
            '<FLID>1</FLID><FFID>x</FFID><MAFL/><GTDT GTNO="1" ODD="1"><NEW/></GTDT><o:STND xmlns:o="urn:o"/>'
        )
        found = codec.decode(message(f"<FLOP>{content}</FLOP><FLOP/><RECS>1</RECS>"))
        assert isinstance(found.body, FlightRecord)
        assert found.body.values == {}
        assert {"FFID", "MAFL", "GTDT", "FLID"} < found.body.tags
        expected = {"FFID": 1, "MAFL": 1, "ODD": 1, "NEW": 1, "{urn:o}STND": 1, "FLOP": 1}
        assert found.ignored == expected

    def test_ignored_tags_are_bounded(self, codec: Codec) -> None:
        """H-11: a hostile message fills no memory with names."""
        found = codec.decode(message("<FLOP>" + "".join(f"<X{n}/>" for n in range(500)) + "</FLOP>"))
        assert len(found.ignored) <= 65
        assert (sum(found.ignored.values()), found.ignored["..."]) == (500, 436)

    def test_the_last_of_repeated_scalars_counts(self, codec: Codec) -> None:
        """D-14: a scalar has one value."""
        assert flight(codec, "<STND>1</STND><STND>2</STND>").values == {"STND": "2"}

    def test_bodies_that_are_not_there(self, codec: Codec) -> None:
        """R-066: the codec says None and leaves the verdict to the rules."""
        assert codec.decode(message("", "FLOP", "GTDT")).body is None
        assert codec.decode(message("", "SCHD", "DNLD")).body is None
        assert codec.decode(message("<SCHD/>", "SCHD", "DNLD")).body == SchedulePackage(None, ())
        assert codec.decode(message("", "ARPT", "DNLD")).body == ReferencePackage(None, ())
        assert codec.decode(message("", "EROR", "RESP")).body == ErrorAnswer()

    def test_declared_count_is_kept_as_text(self, codec: Codec) -> None:
        """D-12, D-40: RECS stands inside SCHD, but beside reference records; nobody parses it here."""
        found = codec.decode(message("<SCHD><RECS> x </RECS><FLTR/></SCHD>", "SCHD", "RESP")).body
        assert isinstance(found, SchedulePackage)
        assert (found.recs, len(found.records)) == ("x", 1)
        assert codec.decode(message("<RECS>2</RECS>", "ARPT", "UPD")).body == ReferencePackage("2", ())

    # Reference data and error answers

    @shared_codec
    @given(records=st.lists(nodes(texts=XML_TEXT), max_size=3))
    def test_reference_records_are_lossless(self, codec: Codec, records: list[Node]) -> None:
        """R-421, D-40: order, repetition, attributes, empty tags."""
        body = f"<RECS>{len(records)}</RECS>" + "\n".join(map(node_xml, records))
        found = codec.decode(message(body, "ARPT", "DNLD")).body
        assert found == ReferencePackage(str(len(records)), tuple(records))

    def test_text_between_children_is_kept(self, codec: Codec) -> None:
        """D-40: mixed content comes out as `#text`."""
        found = codec.decode(message("<RSTA>a<X/> b <Y/></RSTA><OTHER/>", "RSTA", "DNLD"))
        record = Node("RSTA", "a", {}, (Node("X"), Node("#text", "b"), Node("Y")))
        assert found.body == ReferencePackage(None, (record,))
        assert found.ignored == {"OTHER": 1}

    @pytest.mark.parametrize("wrap", ["{}", "<EROR>{}</EROR>"])
    def test_error_answer(self, codec: Codec, wrap: str) -> None:
        """D-32, wire: what upstream says about a request, wherever it says it."""
        tags = "<ERCD>7</ERCD><ERTX>no data</ERTX><ETYP>RQFD</ETYP><ESTP>NONE</ESTP>"
        found = codec.decode(message(wrap.format(tags), "EROR", "RESP")).body
        assert found == ErrorAnswer("7", "no data", "RQFD", "NONE")

    # Places

    @pytest.mark.parametrize("kind", [str, bytes])
    def test_locate(self, codec: Codec, kind: type) -> None:
        """D-25: record, tag and repetition become line and column; the text decides between equal keys."""
        first = "<FLID>1</FLID>\n<STND>1</STND>"
        second = (
            '<FLID>2</FLID>\n<STND>2</STND>\n<CLDT CLNO="1"><PCOT>a</PCOT></CLDT>\n'
            '<CKDT CKNO="1"><PCOT>b</PCOT></CKDT>\n <CKDT CKNO="2"><PCOT>c</PCOT></CKDT>\n<DELY STRT="x"/>'
        )
        text = schedule(first, second)
        raw = text if kind is str else text.encode("utf-16")
        lines = text.split("\n")

        def place(**where: Any) -> tuple[int | None, int | None]:
            error = Protocol("recs-missing", **where)
            codec.locate(raw, error)
            return error.line, error.column

        start = next(n for n, line in enumerate(lines, 1) if "<FLID>2" in line)
        assert place(tag="RECS")[0] == 3 - 1
        assert place(record=1)[0] == start
        assert place(record=1, tag="STND")[0] == start + 1
        assert place(record=1, tag="PCOT")[0] == start + 2
        assert place(record=1, tag="PCOT", text="b")[0] == start + 3
        assert place(record=1, tag="PCOT", ordinal=1)[0] == start + 4
        assert place(record=1, tag="CKDT", ordinal=1)[0] == start + 4
        assert place(record=1, tag="STRT")[0] == start + 5
        assert place(record=1, tag="SODT")[0] == start
        assert place(record=7, tag="STND") == (None, None)

    def test_locate_in_other_kinds(self, codec: Codec) -> None:
        """D-25: `FLOP` is record 0, reference records count from 0 under their own tag."""
        cases = (
            (message("<FLOP>\n<FLID>1</FLID>\n<GTDT><PGOT>x</PGOT></GTDT></FLOP>"), "PGOT", 0, 4),
            (
                message("<ARPT/>\n<CLST/>\n<CLST>\n<CCOD/></CLST>", "CLST", "DNLD", meta_last=True),
                "CCOD",
                1,
                5,
            ),
        )
        for raw, tag, record, line in cases:
            error = Protocol("key-missing", tag=tag, record=record)
            codec.locate(raw, error)
            assert (error.line, error.column) == (line, 1 if tag == "CCOD" else 7)

    @shared_codec
    @given(raw=st.binary(max_size=80) | st.text(max_size=80), record=st.none() | st.integers(-1, 3))
    def test_locate_never_raises(self, codec: Codec, raw: RawText, record: int | None) -> None:
        """D-25: a place is a help, not a condition."""
        codec.locate(raw, Protocol("recs-missing", record=record, tag="STND"))
