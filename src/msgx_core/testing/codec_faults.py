"""The part of the codec contract about refusals: sizes, encodings, faults, their places, hostile input."""

from __future__ import annotations

import codecs
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.message import DecodedMessage, FlightRecord
from msgx_core.ports.codec import Codec, RawText
from msgx_core.testing.codec_messages import META, message, meta, schedule
from msgx_core.testing.contract import Contract
from msgx_core.testing.wire import PROLOG

MAX_BYTES = 10 * 1024 * 1024

# A codec keeps nothing between messages, so one may serve all examples, in every subclass.
shared_codec = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    deadline=None,
)

CONTROLS = [*(chr(n) for n in range(0x20) if n not in (9, 10, 13)), "\ufffe", "\uffff"]
_PLACES = (
    "<FLOP><REMC>\n中{}</REMC></FLOP>",
    '<FLOP><GTDT GTNO="\n中{}"/></FLOP>',
    "<FLOP><![CDATA[\n中{}]]></FLOP>",
    "<FLOP><!--\n中{}--></FLOP>",
    "<FLOP><?pi\n中{}?></FLOP>",
    "<FLOP\n中{}/>",
)
_SAMPLES = (
    message('<FLOP><FLID>1</FLID><GTDT GTNO="1"><GATE>中</GATE></GTDT><SRVT><A/></SRVT></FLOP>'),
    schedule("<FLID>1</FLID><STND>2</STND>", "<FLID>2</FLID><DELY/>"),
    message('<RECS>1</RECS><ARPT><ITCD>KMG</ITCD><ABBR CODE="1">昆</ABBR></ARPT>', "ARPT", "DNLD"),
    message("<ERCD>1</ERCD>", "EROR", "RESP", meta_last=True),
)
_SNIPPETS = [
    b"<",
    b">",
    b"/",
    b"&",
    b"&#0;",
    b"]]>",
    b"<![CDATA[",
    b"<!--",
    b"-->",
    b"<!DOCTYPE",
    b"<?",
    b"\0",
]
_SNIPPETS += [b"<MSG>", b"</MSG>", b"<META>", b"<FLTR>", b"\xff\xfe", b"\xed\xa0\x80", b" encoding='x'", b'"']


def fault(codec: Codec, raw: RawText) -> Malformed:
    """The refusal of `raw`; anything else fails the test."""
    with pytest.raises(Malformed) as caught:
        codec.decode(raw)
    return caught.value


def remark(codec: Codec, raw: RawText) -> str:
    """`REMC` of the flight in a `FLOP`."""
    body = codec.decode(raw).body
    assert isinstance(body, FlightRecord)
    return body.values["REMC"]


class CodecFaults(Contract):
    """Half of `CodecContract`; subclass that."""

    @pytest.fixture
    def codec(self) -> Codec:
        """The codec under test, with a limit of 10 MiB."""
        raise NotImplementedError

    # Size (R-460, H-03)

    @pytest.mark.parametrize("kind", [str, bytes])
    @pytest.mark.parametrize("letter", ["x", "中"])
    def test_ten_mebibytes_are_accepted_and_one_byte_more_is_not(
        self, codec: Codec, kind: type, letter: str
    ) -> None:
        """R-460: UTF-8 bytes count, not characters; one text may fill the message."""
        frame = len(message("<FLOP><REMC></REMC></FLOP>"))
        count, rest = divmod(MAX_BYTES - frame, len(letter.encode()))
        full = message(f"<FLOP><REMC>{letter * count}{'x' * rest}</REMC></FLOP>")
        assert len(remark(codec, full if kind is str else full.encode())) == count + rest
        over = full + " "
        found = fault(codec, over if kind is str else over.encode())
        assert found.reason == f"too-large:{MAX_BYTES + 1}"

    # Encodings (D-44)

    @pytest.mark.parametrize("declared", ["UTF-16", "GB2312", "no-such-thing", "", "utf-8"])
    def test_text_ignores_its_declaration(self, codec: Codec, declared: str) -> None:
        """D-44: a text column has been decoded already."""
        raw = message("<FLOP><REMC>首航</REMC></FLOP>").replace("UTF-8", declared)
        assert remark(codec, raw) == "首航"
        assert remark(codec, "\ufeff" + raw) == "首航"

    @pytest.mark.parametrize(
        ("declared", "encoding"),
        [
            ("UTF-8", "utf-8"),
            ("utf8", "utf-8-sig"),
            ("GB2312", "gb18030"),
            ("gbk", "gb18030"),
            ("GB18030", "gb18030"),
            ("big5", "big5"),
            ("UTF-16", "utf-16"),
            ("UTF-8", "utf-16"),
        ],
    )
    def test_bytes_go_by_mark_then_declaration(self, codec: Codec, declared: str, encoding: str) -> None:
        """D-44: the byte order mark wins over the declaration; `gb2312` means GB18030."""
        text = "東" if encoding == "big5" else "镕€"
        raw = message(f"<FLOP><REMC>{text}</REMC></FLOP>").replace("UTF-8", declared)
        assert remark(codec, raw.encode(encoding)) == text

    def test_bytes_without_either_are_utf_8(self, codec: Codec) -> None:
        """D-44: the last resort."""
        raw = message("<FLOP><REMC>首航</REMC></FLOP>").removeprefix(PROLOG)
        assert remark(codec, raw.encode()) == "首航"
        assert remark(codec, codecs.BOM_UTF16_BE + raw.encode("utf-16-be")) == "首航"

    @pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
    def test_bytes_that_do_not_decode(self, codec: Codec, encoding: str) -> None:
        """D-44: `bad-encoding` with line, column and offset of the first bad byte."""
        head = message("<FLOP><REMC>\n首").partition("</MSG>")[0].replace("UTF-8", encoding).encode(encoding)
        found = fault(codec, head + b"\xff\xff</REMC></FLOP></MSG>")
        assert (found.reason, found.line, found.column) == ("bad-encoding", 3, 2)
        assert str(len(head)) in (found.text or "")

    @pytest.mark.parametrize("name", ["no-such-thing", "", "unicode_escape", "base64", "utf-7", "idna"])
    def test_unknown_encodings(self, codec: Codec, name: str) -> None:
        """D-44: a name that is no encoding of text; never a codec that transforms or runs long."""
        found = fault(codec, message().replace("UTF-8", name).encode())
        assert (found.reason, found.line) == ("bad-encoding", 1)

    def test_lone_surrogates(self, codec: Codec) -> None:
        """D-44: such text cannot be stored."""
        found = fault(codec, message("<FLOP>\n<REMC>\ud800</REMC></FLOP>"))
        assert (found.reason, found.line, found.column) == ("bad-encoding", 3, 7)

    # Characters and structure (H-06, D-25)

    @pytest.mark.parametrize("place", _PLACES)
    @pytest.mark.parametrize("kind", [str, bytes])
    def test_control_characters(self, codec: Codec, place: str, kind: type) -> None:
        """D-25: refused wherever they stand, with the place; U+0000 cannot be stored."""
        for control in CONTROLS:
            raw = message(place.format(control))
            found = fault(codec, raw if kind is str else raw.encode())
            assert (found.reason, found.line, found.column) == ("control-character", 3, 2), repr(control)

    @pytest.mark.parametrize("place", _PLACES[:2])
    def test_control_characters_by_reference(self, codec: Codec, place: str) -> None:
        """D-25: `&#0;` is the same character."""
        for control in CONTROLS:
            for reference in (f"&#{ord(control)};", f"&#x00{ord(control):X};"):
                found = fault(codec, message(place.format(reference)))
                assert (found.reason, found.line, found.column) == ("control-character", 3, 2), reference

    @pytest.mark.parametrize(
        ("raw", "line"),
        [
            ("", 1),
            (" \n ", 2),
            ("hello", 1),
            (message("<FLOP>\n</FLIP>"), 3),
            (message("\n\n").removesuffix("</MSG>"), 4),
            (message() + "\nx", 3),
            (message("<FLOP>\n&nbsp;</FLOP>"), 3),
            (message('<FLOP>\n<GTDT GTNO="&nbsp;"/></FLOP>'), 3),
            (message("<FLOP>\n<x:REMC/></FLOP>"), 3),
            (message("<FLOP>\n&#xD800;</FLOP>"), 3),
            (message('<FLOP A="1"\nA="2"/>'), 3),
            ("\n" + message(), 2),
        ],
    )
    def test_not_well_formed(self, codec: Codec, raw: str, line: int) -> None:
        """R-064, H-06: with line and column."""
        for form in (raw, raw.encode()):
            found = fault(codec, form)
            assert (found.reason, found.line) == ("not-well-formed", line)
            assert found.column is not None

    @pytest.mark.parametrize("root", ["<MSGS/>", "<msg/>", '<MSG xmlns="urn:x"/>', "<x><MSG/></x>"])
    def test_wrong_root(self, codec: Codec, root: str) -> None:
        """H-03, H-06: the root is `MSG`, in no namespace."""
        assert fault(codec, PROLOG + root).reason == "wrong-root"

    @pytest.mark.parametrize("tag", META)
    @pytest.mark.parametrize("value", [None, "", "  "])
    def test_missing_metadata(self, codec: Codec, tag: str, value: str | None) -> None:
        """R-050, H-06: each of the five is mandatory; the first one missing is named."""
        broken = meta(**{"STYP": None, tag: value}) if tag != "STYP" else meta(STYP=value)
        found = fault(codec, f"{PROLOG}<MSG>\n{broken}</MSG>")
        assert (found.reason, found.line) == (f"meta-missing:{tag}", 3)
        assert fault(codec, f"{PROLOG}<MSG><FLOP/></MSG>").reason == "meta-missing:META"

    @pytest.mark.parametrize(
        ("tag", "value"),
        [
            *((tag, value) for tag in META for value in ("a|b", "a b", "a\nb", "x" * 65)),
            *((tag, "x" * 21) for tag in ("TYPE", "STYP")),
            *(("SEQN", value) for value in ("-1", "1.0", "1" * 19, "１７")),
            *(("DTTM", value) for value in ("2027031406000", "20270230060000", "20270314240000", "0" * 14)),
        ],
    )
    def test_illegal_metadata(self, codec: Codec, tag: str, value: str) -> None:
        """D-23: parts of the identity; a bar or white space inside would make two messages one."""
        found = fault(codec, f"{PROLOG}<MSG>\n{meta(**{tag: value})}</MSG>")
        assert (found.reason, found.tag) == (f"meta-invalid:{tag}", tag)
        assert found.line == 3

    def test_legal_limits_of_metadata(self, codec: Codec) -> None:
        """D-23: the longest values that are let in."""
        raw = f"{PROLOG}<MSG>{meta(SNDR='空' * 64, SEQN='9' * 18, TYPE='T' * 20, STYP='S' * 20)}</MSG>"
        assert codec.decode(raw).meta.seqn == "9" * 18

    # Hostile input

    @pytest.mark.parametrize("before", ["", "<!-- <MSG> -->\n", "<?x?><!--a--> "])
    def test_a_doctype_is_refused_before_it_costs_anything(self, codec: Codec, before: str) -> None:
        """D-25: no entity is ever expanded, in text or attributes."""
        entities = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
            f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)
        )
        bomb = f'{before}<!DOCTYPE MSG [{entities}]>\n<MSG a="&a11;">&a11;</MSG>'
        start = time.perf_counter()
        found = fault(codec, PROLOG + bomb)
        assert time.perf_counter() - start < 1
        assert (found.reason, found.line) == ("doctype-not-allowed", 2 + before.count("\n"))

    def test_the_word_doctype_in_a_text_is_harmless(self, codec: Codec) -> None:
        """D-25: only a declaration is refused."""
        raw = message("<FLOP><REMC><![CDATA[<!DOCTYPE a>]]></REMC></FLOP>").replace(
            "<MSG", "<!--<!DOCTYPE b>--><MSG", 1
        )
        assert remark(codec, raw) == "<!DOCTYPE a>"

    @pytest.mark.parametrize("levels", [101, 300, 10_000, 400_000])
    @pytest.mark.parametrize("type_", ["FLOP", "ARPT", "SCHS"])
    def test_deep_nesting_is_a_fault_of_the_message(self, codec: Codec, levels: int, type_: str) -> None:
        """H-06: refused or passed over, never a stack overflow; a reference record has 100 levels at most."""
        raw = message(f"<{type_}>{'<A>' * levels}{'</A>' * levels}</{type_}>", type_, "DNLD")
        if type_ == "ARPT" or levels >= 10_000:
            found = fault(codec, raw)
            assert (found.reason, found.line) == ("not-well-formed", 2)
        else:
            codec.decode(raw)

    @shared_codec
    @given(raw=st.binary(max_size=200) | st.text(max_size=200))
    def test_noise_is_malformed(self, codec: Codec, raw: RawText) -> None:
        """R-064, R-065: no other exception, whatever comes in."""
        assert fault(codec, raw).reason

    @shared_codec
    @given(data=st.data())
    def test_damaged_messages_decode_or_are_malformed(self, codec: Codec, data: st.DataObject) -> None:
        """R-064, R-065: cut, doubled, overwritten and spliced messages."""
        raw = data.draw(st.sampled_from(_SAMPLES)).encode(data.draw(st.sampled_from(["utf-8", "utf-16"])))
        for _ in range(data.draw(st.integers(1, 4))):
            start, end = sorted((data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, len(raw)))))
            middle = data.draw(st.sampled_from([b"", raw[start:end] * 2, *_SNIPPETS]) | st.binary(max_size=4))
            raw = raw[:start] + middle + raw[end:]
        found: DecodedMessage | Malformed
        try:
            found = codec.decode(raw)
        except Malformed as error:
            found = error
        assert isinstance(found, DecodedMessage) or re.fullmatch(r"[a-z-]+(:[A-Z0-9]+)?", found.reason)
        codec.locate(raw, Protocol("recs-missing", record=0, tag="GATE"))
