"""Whole messages as plain data, and the XML that says it: what tests know of a message without a codec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

from attrs import evolve, field, frozen

from msgx_core.model.message import Element, FlightRecord, MsgKind, Node
from msgx_core.model.sis import COLLECTIONS, SINGLES

PlainValue = str | Mapping[str, str] | Sequence[Mapping[str, str]]
"""Text of a scalar, a single-value element, or elements of a collection; empty: the empty tag."""

PlainRecord = Mapping[str, PlainValue]
"""What stands in a `FLTR` or a `FLOP`, by tag in order, `FLID` among it."""

PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n'
ROOT = '<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
META_TAGS = ("SNDR", "SEQN", "DTTM", "TYPE", "STYP")
_NOTHING: Mapping[str, str] = MappingProxyType({})


@frozen
class Fault:
    """How a message is broken, and what becomes of it: error code and reason (D-25).

    `code` None: it is odd, and taken all the same. `undecodable`: it ends before it has an identity.
    """

    name: str
    code: str | None = None
    reason: str | None = None
    undecodable: bool = False


@frozen
class WireMessage:
    """One message: what stands in `META` and in the body, and `raw`, the bytes that say so.

    `flights` are the records of a schedule or an ADFT, or the one content of a `FLOP`; `records` those of a
    reference message; `answer` the values of an `EROR`; `recs` None: no such tag. `body` is written instead
    of all these, `written` instead of the whole message.

    >>> sent = WireMessage(MsgKind.FDEL, meta("FLOP", "FDEL", "8"), flights=({"FLID": "7", "FDEL": ""},))
    >>> sent.body_xml
    '<FLOP><FLID>7</FLID><FDEL></FDEL></FLOP>'
    """

    kind: MsgKind
    meta: Mapping[str, str]
    recs: str | None = None
    flights: tuple[PlainRecord, ...] = ()
    records: tuple[Node, ...] = ()
    answer: Mapping[str, str] = field(default=_NOTHING)
    fault: Fault | None = None
    body: str | None = None
    written: bytes | None = None

    @property
    def type(self) -> str:
        """`TYPE`, or nothing."""
        return self.meta.get("TYPE", "")

    @property
    def styp(self) -> str:
        """`STYP`, or nothing."""
        return self.meta.get("STYP", "")

    @property
    def raw(self) -> bytes:
        """The whole message in UTF-8, or the bytes that stand for it."""
        return self.text.encode() if self.written is None else self.written

    @property
    def text(self) -> str:
        """The whole message as it would be without `written`."""
        head = "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in self.meta.items())
        return f"{PROLOG}{ROOT}<META>{head}</META>{self.body_xml}</MSG>"

    @property
    def body_xml(self) -> str:
        """What stands behind `META`."""
        if self.body is not None:
            return self.body
        recs = "" if self.recs is None else f"<RECS>{escape(self.recs)}</RECS>"
        match self.kind:
            case MsgKind.SCHEDULE | MsgKind.ADFT:
                records = "".join(f"<FLTR>{record_xml(record)}</FLTR>" for record in self.flights)
                return f"<SCHD>{recs}{records}</SCHD>"
            case MsgKind.FLOP | MsgKind.FDEL:
                return "".join(f"<FLOP>{record_xml(record)}</FLOP>" for record in self.flights)
            case MsgKind.ERROR_ANSWER:
                return f"<EROR>{record_xml(self.answer)}</EROR>"
            case _:
                return recs + "".join(map(node_xml, self.records))

    def numbered(self, seqn: int, dttm: str | None = None) -> WireMessage:
        """The same message under another `SEQN`, so another identity. A `written` one stays as it is."""
        stamp = {} if dttm is None else {"DTTM": dttm}
        return evolve(self, meta={**self.meta, "SEQN": str(seqn), **stamp})


def meta(type_: str, styp: str, seqn: str = "17", dttm: str = "20270314060000") -> dict[str, str]:
    """A whole `META` of sender `AODB`."""
    return dict(zip(META_TAGS, ("AODB", seqn, dttm, type_, styp), strict=True))


def record_xml(record: PlainRecord) -> str:
    """The inside of a `FLTR` or a `FLOP`.

    >>> record_xml({"FLID": "7", "STND": "", "GTDT": [{"GTNO": "1", "GATE": "B1"}], "CKDT": []})
    '<FLID>7</FLID><STND></STND><GTDT GTNO="1"><GATE>B1</GATE></GTDT><CKDT CKNO="0"></CKDT>'
    """
    return "".join(value_xml(tag, value) for tag, value in record.items())


def value_xml(tag: str, value: PlainValue) -> str:
    """One tag with its value: a collection repeats it, an empty one says so in its own form."""
    if isinstance(value, str):
        return f"<{tag}>{escape(value)}</{tag}>"
    if isinstance(value, Mapping):
        return element_xml(tag, value)
    return "".join(element_xml(tag, element) for element in value or [empty_element(tag)])


def empty_element(tag: str) -> Element:
    """The element that says that a collection is empty (wire: Empty collection)."""
    sequence = COLLECTIONS[tag].sequence
    return {} if sequence is None else {sequence: "0"}


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


def flight_record(sent: Mapping[str, PlainValue], flid: int | str | None = 7) -> FlightRecord:
    """The record that a codec gives for these tags.

    >>> dict(flight_record({"STND": "12", "CKDT": []}).elements)
    {'CKDT': ({'CKNO': '0'},)}
    """
    tags = {
        tag: [empty_element(tag)] if tag in COLLECTIONS and not value else value
        for tag, value in sent.items()
        if tag != "FLID"
    }
    values = {tag: text for tag, text in tags.items() if isinstance(text, str)}
    elements: dict[str, tuple[Element, ...]] = {
        tag: (value,) if isinstance(value, Mapping) else tuple(value)
        for tag, value in tags.items()
        if not isinstance(value, str)
    }
    return FlightRecord(None if flid is None else str(flid), values, elements, {}, frozenset({"FLID", *tags}))
