"""Decoded messages: metadata, kind, and the body as text values not yet checked."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen

from msgx_core.model.sis import CATEGORIES, RSTA

Element = Mapping[str, str]
"""One complex element, flat: attributes and children by SIS key, its own text under `TEXT`.

A blank value is kept as `""`, so that `DDES=""` differs from no `DDES`.
"""


class MsgKind(enum.Enum):
    """Dispatch key of a message (IMP §2, H-07)."""

    SCHEDULE = "SCHEDULE"
    ADFT = "ADFT"
    FLOP = "FLOP"
    FDEL = "FDEL"
    REFERENCE = "REFERENCE"
    RESOURCE_STATUS = "RESOURCE_STATUS"
    ERROR_ANSWER = "ERROR_ANSWER"
    UNSUPPORTED = "UNSUPPORTED"


@frozen
class Meta:
    """The five mandatory values of `META`, trimmed, as sent (wire: Envelope)."""

    sndr: str
    seqn: str
    dttm: str
    type: str
    styp: str


@frozen
class FlightRecord:
    """One `FLTR` or the content of one `FLOP`, unchecked.

    `flid` is the trimmed text or None when there is no tag. `values` holds the scalar tags of the model
    that are present (`""`: empty tag), `elements` the single-value elements and collections in document
    order, `raw_sections` the XML text of `SRVT` and `VIPF`. `tags` names every child that is present,
    known or not.
    """

    flid: str | None
    values: Mapping[str, str] = MappingProxyType({})
    elements: Mapping[str, tuple[Element, ...]] = MappingProxyType({})
    raw_sections: Mapping[str, str] = MappingProxyType({})
    tags: frozenset[str] = frozenset()


@frozen
class SchedulePackage:
    """Body of `SCHD`: the declared `RECS` text (None: no tag) and the records in order."""

    recs: str | None
    records: tuple[FlightRecord, ...]


@frozen
class Node:
    """A reference record as a lossless tree: order, repetition, attributes, empty tags.

    `text` is the trimmed text before the first child. Other non-blank text inside is a child with the tag
    `#text`.
    """

    tag: str
    text: str = ""
    attributes: Mapping[str, str] = MappingProxyType({})
    children: tuple[Node, ...] = ()

    def value(self, tag: str) -> str | None:
        """Text of the first child with that tag; None when there is none."""
        return next((c.text for c in self.children if c.tag == tag), None)


@frozen
class ReferencePackage:
    """Body of a reference message: the declared `RECS` text and the records in order."""

    recs: str | None
    records: tuple[Node, ...]


@frozen
class ErrorAnswer:
    """Body of `EROR`: what upstream says about one of our requests (wire; all optional)."""

    code: str | None = None
    text: str | None = None
    in_type: str | None = None
    in_styp: str | None = None


Body = SchedulePackage | FlightRecord | ReferencePackage | ErrorAnswer


@frozen
class DecodedMessage:
    """A well-formed message. `body` is None when the payload element is absent or the kind unsupported.

    `ignored` counts tags outside the model (H-11).
    """

    meta: Meta
    kind: MsgKind
    body: Body | None
    ignored: Mapping[str, int] = field(factory=dict)


_REFERENCE_STYPS = frozenset({"DNLD", "RESP", "ADD", "UPD", "DEL"})


def kind_of(type_: str, styp: str) -> MsgKind:
    """Dispatch key of TYPE and STYP, compared case-sensitively (H-07).

    >>> kind_of("FLOP", "GTDT"), kind_of("SCHS", "DNLD")
    (<MsgKind.FLOP: 'FLOP'>, <MsgKind.UNSUPPORTED: 'UNSUPPORTED'>)
    """
    if type_ == "SCHD":
        return {"DNLD": MsgKind.SCHEDULE, "RESP": MsgKind.SCHEDULE, "ADFT": MsgKind.ADFT}.get(
            styp, MsgKind.UNSUPPORTED
        )
    if type_ == "FLOP":
        return MsgKind.FDEL if styp == "FDEL" else MsgKind.FLOP
    if type_ in CATEGORIES and styp in _REFERENCE_STYPS:
        return MsgKind.REFERENCE
    if type_ == RSTA and styp in {"DNLD", "RESP"}:
        return MsgKind.RESOURCE_STATUS
    return MsgKind.ERROR_ANSWER if type_ == "EROR" else MsgKind.UNSUPPORTED
