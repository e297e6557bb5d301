"""Faults of the text itself: bytes, XML, `META`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import evolve
from hypothesis import strategies as st

from msgx_core.testing.strategies.breaking import Breakage, odd, undecodable
from msgx_core.testing.strategies.legal import messages, schedules
from msgx_core.testing.wire import META_TAGS, PROLOG, ROOT, WireMessage

_BOMB = '<!DOCTYPE MSG [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'


def _cut_off(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    end = draw(st.integers(len(PROLOG), len(sent.text) - 1))
    return undecodable(sent, "not-well-formed", sent.text[:end].encode())


def _doctype(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    dtd = draw(st.sampled_from([_BOMB, '<!DOCTYPE MSG SYSTEM "file:///etc/hostname">']))
    return undecodable(sent, "doctype-not-allowed", sent.text.replace(PROLOG, PROLOG + dtd).encode())


def _wrong_encoding(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """GBK bytes that say they are UTF-8."""
    spoilt = sent.text.replace("</META>", "</META><!--延误-->")
    return undecodable(sent, "bad-encoding", spoilt.encode("gb18030"))


def _control_character(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    sign = draw(st.sampled_from("\x01\x08\x0b\x1f\ufffe\uffff"))
    return undecodable(sent, "control-character", sent.text.replace("</MSG>", f"{sign}</MSG>").encode())


def _wrong_root(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    spoilt = sent.text.replace(ROOT, "<MESSAGE>").replace("</MSG>", "</MESSAGE>")
    return undecodable(sent, "wrong-root", spoilt.encode())


def _no_text(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return undecodable(sent, "raw-missing", draw(st.sampled_from([b"", b"  \n"])))


def _without_meta(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    spoilt = f"{PROLOG}{ROOT}{sent.body_xml}</MSG>"
    return undecodable(sent, "meta-missing:META", spoilt.encode())


def _meta_missing(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    tag = draw(st.sampled_from(META_TAGS))
    blank = {tag: draw(st.sampled_from(["", " "]))} if draw(st.booleans()) else {}
    head = {name: text for name, text in sent.meta.items() if name != tag} | blank
    return undecodable(sent, f"meta-missing:{tag}", evolve(sent, meta=head).raw)


def _meta_invalid(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Values with white space or a bar, numbers and dates that are none."""
    wrong = {
        "SNDR": st.sampled_from(["A B", "A|B"]),
        "SEQN": st.sampled_from(["-1", "x", "1.0", "1" * 19]),
        "DTTM": st.sampled_from(["20270230000000", "2027-03-14", "20270314240000", "202703140600"]),
        "TYPE": st.sampled_from(["FL OP", "F|OP"]),
        "STYP": st.sampled_from(["GT|DT", "D" * 21]),
    }
    tag = draw(st.sampled_from(META_TAGS))
    head = {**sent.meta, tag: draw(wrong[tag])}
    return undecodable(sent, f"meta-invalid:{tag}", evolve(sent, meta=head).raw)


def _unknown_tag(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Ignored and counted, wherever it stands (H-11)."""
    tag = draw(st.sampled_from(["XTRA", "MAFL", "FFID"]))
    place = draw(st.sampled_from(["</MSG>", "</META>"]))
    spoilt = sent.text.replace(place, f"<{tag}>1</{tag}>{place}")
    return odd(sent, written=spoilt.encode())


def _meta_last(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Child order is not guaranteed."""
    head, rest = sent.text.removeprefix(PROLOG + ROOT).split("</META>", 1)
    spoilt = f"{PROLOG}{ROOT}{rest.removesuffix('</MSG>')}{head}</META></MSG>"
    return odd(sent, written=spoilt.encode())


def _spread_out(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Any indentation, and blanks around the sign in an attribute."""
    spoilt = sent.text.replace("><", ">\n   <").replace('="', ' = "')
    return odd(sent, written=spoilt.replace("?xml version = ", "?xml version=").encode())


BROKEN_BYTES: Mapping[str, Breakage] = MappingProxyType(
    {
        "cut-off": Breakage(messages, _cut_off),
        "doctype": Breakage(messages, _doctype),
        "wrong-encoding": Breakage(messages, _wrong_encoding),
        "control-character": Breakage(messages, _control_character),
        "wrong-root": Breakage(messages, _wrong_root),
        "no-text": Breakage(messages, _no_text),
        "without-meta": Breakage(messages, _without_meta),
        "meta-missing": Breakage(messages, _meta_missing),
        "meta-invalid": Breakage(messages, _meta_invalid),
    }
)
ODD_BYTES: Mapping[str, Breakage] = MappingProxyType(
    {
        "unknown-tag": Breakage(messages, _unknown_tag),
        "meta-last": Breakage(messages, _meta_last),
        "spread-out": Breakage(schedules, _spread_out),
    }
)
