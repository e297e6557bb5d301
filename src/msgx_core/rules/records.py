"""From text values of a record to checked field values (D-12, D-14, D-17, D-18, D-19)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import field, frozen

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.flight import FieldValue
from msgx_core.model.message import Element, FlightRecord
from msgx_core.model.sis import COLLECTIONS, MAX_VALUE_CHARS, SCALARS, SINGLES, Collection, Kind, Single
from msgx_core.rules.values import is_legal, parse_flid, problem_of

TEXT = "TEXT"


@frozen
class BadValue:
    """An optional value that was taken as absent (D-14); `reason` as it would be, were it fatal."""

    flid: int
    tag: str
    text: str
    record: int
    reason: str


@frozen
class RecordValues:
    """The checked values of a record. `values` has what is set, `empty` the tags that are present and empty.

    `dropped` are bad optional values, `truncated` counts route points beyond the limit.
    """

    flid: int
    values: Mapping[str, FieldValue]
    empty: frozenset[str]
    dropped: tuple[BadValue, ...] = ()
    truncated: int = 0


@frozen
class _Reader:
    """Where we are in the message, and whether a bad value is fatal."""

    flid: int
    record: int
    strict: bool
    max_points: int
    dropped: list[BadValue] = field(factory=list)

    def accepts(self, kind: Kind, tag: str, text: str, ordinal: int = 0) -> bool:
        """Whether the value may be kept; raises when a bad one is fatal."""
        if len(text) > MAX_VALUE_CHARS:
            raise Protocol(
                f"value-too-long:{tag}", flid=self.flid, tag=tag, record=self.record, ordinal=ordinal
            )
        if kind is Kind.TEXT or is_legal(kind, text):
            return True
        reason = problem_of(kind, tag)
        if self.strict:
            raise Malformed(reason, flid=self.flid, tag=tag, text=text, record=self.record, ordinal=ordinal)
        self.dropped.append(BadValue(self.flid, tag, text, self.record, reason))
        return False


def read_record(
    record: FlightRecord,
    flid: int,
    *,
    index: int = 0,
    tags: Iterable[str] | None = None,
    strict: bool = False,
    max_points: int = 4,
) -> RecordValues:
    """Check the model tags of a record (only `tags`, if given).

    Not strict: a time or number that does not parse is dropped and listed (D-14). Strict: it is
    `Malformed` (D-18). Raises `Protocol` for mixed or overfull collections and over-long values.
    """
    reader = _Reader(flid, index, strict, max_points)
    only = None if tags is None else frozenset(tags)
    values: dict[str, FieldValue] = {}
    empty: set[str] = set()
    truncated = 0
    for tag, text in record.values.items():
        if only is not None and tag not in only:
            continue
        if not text:
            empty.add(tag)
        elif reader.accepts(SCALARS[tag].kind, tag, text):
            values[tag] = _scalar(tag, text)
    for tag, elements in record.elements.items():
        if only is not None and tag not in only:
            continue
        value, cut = _element(tag, elements, reader)
        truncated += cut
        if value:
            values[tag] = value
        else:
            empty.add(tag)
    return RecordValues(flid, values, frozenset(empty), tuple(reader.dropped), truncated)


def _scalar(tag: str, text: str) -> FieldValue:
    if SCALARS[tag].kind is Kind.FLID:
        return parse_flid(text) or 0
    return text


def _element(tag: str, elements: Sequence[Element], reader: _Reader) -> tuple[FieldValue | None, int]:
    if tag in SINGLES:
        return _single(SINGLES[tag], elements[-1], reader), 0
    return _collection(COLLECTIONS[tag], elements, reader)


def _single(spec: Single, element: Element, reader: _Reader) -> Element | None:
    """The value, or None when this form clears it (wire: single-value elements)."""
    kept = {key: text for key in (*spec.attributes, TEXT) if (text := element.get(key, ""))}
    for key, text in kept.items():
        reader.accepts(Kind.TEXT, spec.tag if key == TEXT else key, text)
    if spec.cleared_by is None:
        return kept if TEXT in kept else None
    return None if element.get(spec.cleared_by) == "" else kept or None


def _collection(
    spec: Collection, elements: Sequence[Element], reader: _Reader
) -> tuple[tuple[Element, ...], int]:
    """All elements in order, or none for the empty form; and how many were cut off."""
    real = [(n, e) for n, e in enumerate(elements) if not _is_empty_form(spec, e)]
    if not real:
        return (), 0
    if len(real) < len(elements):
        raise Protocol(f"collection-mixed:{spec.tag}", flid=reader.flid, tag=spec.tag, record=reader.record)
    if spec.limit is not None and len(real) > spec.limit:
        raise Protocol(
            f"collection-overflow:{spec.tag}",
            flid=reader.flid,
            tag=spec.tag,
            record=reader.record,
            ordinal=spec.limit,
        )
    kept = tuple(e for e in (_checked(spec, n, e, reader) for n, e in real) if e)
    limit = reader.max_points if spec.truncated else len(kept)
    return kept[:limit], max(0, len(kept) - limit)


def _is_empty_form(spec: Collection, element: Element) -> bool:
    """One element with sequence 0 (or none) and no content means "none now"."""
    if any(text for key, text in element.items() if key != spec.sequence):
        return False
    number = element.get(spec.sequence, "") if spec.sequence else ""
    return not number.strip("0")


def _checked(spec: Collection, ordinal: int, element: Element, reader: _Reader) -> Element:
    kinds = {**spec.attributes, **spec.keys}
    kept = {
        key: text
        for key, text in element.items()
        if text and reader.accepts(kinds.get(key, Kind.TEXT), key, text, ordinal)
    }
    # A large schedule has some 100,000 elements: the message's own are kept where nothing was dropped.
    return element if len(kept) == len(element) else kept
