"""The bodies: each reader takes the children of `MSG` as they become complete."""

from __future__ import annotations

from itertools import islice

from lxml import etree

from msgx_adapters.codec_lxml.flight import flight_record
from msgx_adapters.codec_lxml.nodes import reference_node
from msgx_adapters.codec_lxml.tables import Ignored
from msgx_core.model.message import (
    Body,
    ErrorAnswer,
    FlightRecord,
    Meta,
    MsgKind,
    Node,
    ReferencePackage,
    SchedulePackage,
)


class Reader:
    """Reads nothing: the reader of unsupported messages, and what the others have in common."""

    def __init__(self) -> None:
        self.ignored = Ignored()

    def child(self, child: etree._Element) -> None:
        """Take one complete child of `MSG`, in document order; never `META`."""

    def open(self, child: etree._Element) -> None:
        """Take and delete what is complete of a child of `MSG` that is still growing."""
        del child[:-1]

    @property
    def body(self) -> Body | None:
        """What was read; None when the payload element is absent."""
        return None


class _Schedule(Reader):
    def __init__(self) -> None:
        super().__init__()
        self._seen = False
        self._recs: str | None = None
        self._records: list[FlightRecord] = []

    def child(self, child: etree._Element) -> None:
        if child.tag == "SCHD":
            self._take(child, len(child))
        elif child.tag != "RECS":
            self.ignored.add(child.tag)

    def open(self, child: etree._Element) -> None:
        if child.tag == "SCHD":
            self._take(child, len(child) - 1)
        super().open(child)

    def _take(self, package: etree._Element, count: int) -> None:
        # A second SCHD adds to the first: dropping its flights would read as their deletion.
        self._seen = True
        for part in islice(package, max(count, 0)):
            if part.tag == "FLTR":
                self._records.append(flight_record(part, self.ignored))
            elif part.tag != "RECS":
                self.ignored.add(part.tag)
            elif self._recs is None:
                self._recs = (part.text or "").strip()

    @property
    def body(self) -> SchedulePackage | None:
        return SchedulePackage(self._recs, tuple(self._records)) if self._seen else None


class _Flight(Reader):
    def __init__(self, marker: str) -> None:
        super().__init__()
        self._marker = marker
        self._record: FlightRecord | None = None

    def child(self, child: etree._Element) -> None:
        if child.tag == "FLOP" and self._record is None:
            self._record = flight_record(child, self.ignored, self._marker)
        elif child.tag != "RECS":
            self.ignored.add(child.tag)

    def open(self, child: etree._Element) -> None:
        """One flight is read when it is complete."""

    @property
    def body(self) -> FlightRecord | None:
        return self._record


class _Reference(Reader):
    def __init__(self, tag: str) -> None:
        super().__init__()
        self._tag = tag
        self._recs: str | None = None
        self._records: list[Node] = []

    def child(self, child: etree._Element) -> None:
        if child.tag == self._tag:
            self._records.append(reference_node(child))
        elif child.tag != "RECS":
            self.ignored.add(child.tag)
        elif self._recs is None:
            self._recs = (child.text or "").strip()

    def open(self, child: etree._Element) -> None:
        """A record is a tree: it is read when it is complete."""

    @property
    def body(self) -> ReferencePackage:
        return ReferencePackage(self._recs, tuple(self._records))


class _Error(Reader):
    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}

    def child(self, child: etree._Element) -> None:
        for part in child if child.tag == "EROR" else (child,):
            text = (part.text or "").strip()
            if part.tag not in ("ERCD", "ERTX", "ETYP", "ESTP"):
                self.ignored.add(part.tag)
            elif text:
                self._values.setdefault(part.tag, text)

    def open(self, child: etree._Element) -> None:
        """An answer is small: it is read when it is complete."""

    @property
    def body(self) -> ErrorAnswer:
        values = self._values.get
        return ErrorAnswer(values("ERCD"), values("ERTX"), values("ETYP"), values("ESTP"))


def reader_for(kind: MsgKind, meta: Meta) -> Reader:
    """The reader of one message."""
    if kind in (MsgKind.FLOP, MsgKind.FDEL):
        return _Flight(meta.styp if kind is MsgKind.FDEL else "")
    if kind in (MsgKind.SCHEDULE, MsgKind.ADFT):
        return _Schedule()
    if kind in (MsgKind.REFERENCE, MsgKind.RESOURCE_STATUS):
        return _Reference(meta.type)
    return _Error() if kind is MsgKind.ERROR_ANSWER else Reader()
