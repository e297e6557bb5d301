"""Details of the lxml codec that other codecs may settle otherwise."""

import pytest

from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.codec_lxml.parsing import refuse_doctype
from msgx_adapters.codec_lxml.tables import REST, SCALAR_TAGS, SHAPES, Ignored
from msgx_adapters.codec_lxml.text import place_of, to_utf8
from msgx_core.errors import Malformed, Protocol
from msgx_core.model.message import FlightRecord
from msgx_core.model.sis import COLLECTIONS, MODEL_TAGS
from msgx_core.testing.codec_messages import message, schedule


def test_every_model_tag_is_read() -> None:
    assert {*SCALAR_TAGS, *SHAPES} == {*MODEL_TAGS, "FLID"}
    assert all(row.sequence in SHAPES[tag].attributes for tag, row in COLLECTIONS.items() if row.sequence)


def test_a_small_limit() -> None:
    raw = message()
    assert LxmlCodec(len(raw)).decode(raw).body is None
    with pytest.raises(Malformed, match=f"too-large:{len(raw)}"):
        LxmlCodec(len(raw) - 1).decode(raw)
    with pytest.raises(Malformed, match="too-large:6"):
        to_utf8("\ud800中", 5)


def test_ascii_and_utf_8_bytes_are_not_copied() -> None:
    for raw in (message().encode(), message("<X>中</X>").encode()):
        assert to_utf8(raw, 1000) is raw


def test_blanking_a_declaration_moves_nothing() -> None:
    raw = "<?xml version='1.0'\n encoding\n=\n'GBK' ?>\n<MSG/>"
    data = to_utf8(raw, 1000)
    assert len(data) == len(raw)
    assert data.split(b"\n")[-1] == b"<MSG/>"
    assert data.count(b"\n") == raw.count("\n")


@pytest.mark.parametrize(("offset", "place"), [(0, (1, 1)), (4, (1, 3)), (5, (2, 1)), (8, (2, 2))])
def test_places_count_characters(offset: int, place: tuple[int, int]) -> None:
    assert place_of("a中\n中b".encode(), offset) == place


@pytest.mark.parametrize(
    "text", ["<!doctype a>", "<MSG/><!DOCTYPE a>", "<!-- <!DOCTYPE a>", "<?x <!DOCTYPE a>"]
)
def test_what_only_looks_like_a_doctype(text: str) -> None:
    refuse_doctype(text.encode())


def test_ignored_names_are_short_and_few() -> None:
    ignored = Ignored()
    for n in range(100):
        ignored.add("N" * 70 + str(n))
        ignored.add(f"X{n}")
    assert ignored.counts["N" * 64 + REST] == 100
    assert (len(ignored.counts), ignored.counts[REST]) == (65, 100 - 63)


def test_children_of_a_scalar_are_counted() -> None:
    found = LxmlCodec().decode(message("<FLOP><STND><X/></STND><GTDT><GATE><Y/></GATE></GTDT></FLOP>"))
    assert isinstance(found.body, FlightRecord)
    assert (found.body.values["STND"], found.ignored) == ("", {"X": 1, "Y": 1})


def test_text_around_children_belongs_to_the_element() -> None:
    found = LxmlCodec().decode(message("<FLOP><DELY>late <b>x</b> inbound</DELY></FLOP>"))
    assert isinstance(found.body, FlightRecord)
    assert found.body.elements["DELY"] == ({"TEXT": "late  inbound"},)


def test_the_marker_of_a_deletion_is_not_foreign() -> None:
    found = LxmlCodec().decode(message("<FLOP><FLID>1</FLID><FDEL/></FLOP>", "FLOP", "FDEL"))
    assert not found.ignored
    assert isinstance(found.body, FlightRecord)
    assert found.body.tags == {"FLID", "FDEL"}


def test_places_beyond_sixteen_bits_of_lines() -> None:
    raw = schedule("<FLID>1</FLID>" + "\n" * 70_000 + "<GTDT><PGOT>x</PGOT></GTDT>")
    error = Protocol("bad-time:PGOT", record=0, tag="PGOT")
    LxmlCodec().locate(raw, error)
    assert (error.line, error.column) == (70_003, 7)
    with pytest.raises(Malformed) as caught:
        LxmlCodec().decode(raw.removesuffix("</MSG>"))
    assert caught.value.line == 70_003


def test_reasons_come_with_words() -> None:
    with pytest.raises(Malformed) as caught:
        LxmlCodec().decode(message("<FLOP></FLIP>"))
    assert "mismatch: FLOP line 2 and FLIP" in (caught.value.text or "")
    assert (caught.value.detail or "").startswith("line 2, column ")
