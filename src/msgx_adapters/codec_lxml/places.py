"""Line and column of a record, a tag or an attribute, for error messages.

Expat rather than lxml: it knows the exact place of each tag, also beyond line 65,535, and keeps no tree.
"""

from __future__ import annotations

from collections import Counter
from xml.parsers import expat

from msgx_core.errors import MessageError
from msgx_core.model.sis import CATEGORIES, RSTA

Place = tuple[int, int]

_RECORDS = frozenset({"FLOP", RSTA, *CATEGORIES})
_RECORD, _TAG, _TEXT = 1, 2, 3  # how well a place fits: the record, the tag in it, the text as well


def find_place(data: bytes, error: MessageError) -> Place | None:
    """Where the fault is; the best of record, tag in it, and tag with the offending text.

    A key such as `PCOT` occurs in several collections: the text decides between them.
    """
    finder = _Finder(error)
    finder.scan(data)
    return finder.place


class _Finder:
    def __init__(self, error: MessageError) -> None:
        self._error = error
        self._parser = expat.ParserCreate("utf-8")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._path: list[str] = []
        self._seen: Counter[str] = Counter()  # records so far, by tag
        self._target: str | None = None  # tag of the record we are in, if it is the one
        self._depth = 0  # of that record
        self._siblings: Counter[str] = Counter()  # children of that record so far, by tag
        self._nth = 0  # repetition of the child we are in
        self._open: dict[int, Place] = {}  # depth: place of an element whose text may decide
        self._text: list[str] = []
        self._type = ""
        self._best: dict[str, tuple[int, Place]] = {}

    def scan(self, data: bytes) -> None:
        self._parser.Parse(data, True)

    @property
    def place(self) -> Place | None:
        """The answer, for the record tag that the TYPE of the message asks for."""
        records = "" if self._error.record is None else "FLTR" if self._type == "SCHD" else self._type
        found = self._best.get(records)
        return None if found is None else found[1]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        self._text.clear()
        depth = len(self._path)
        if self._error.record is None:
            # Without a record it is a tag of the envelope: RECS, META and the like.
            if name == self._error.tag and depth <= 3:
                self._hit("", _TAG)
        elif self._target is not None:
            self._inside(name, attributes, depth - self._depth)
        elif self._is_record(name, depth):
            if self._seen[name] == self._error.record:
                self._target, self._depth = name, depth
                self._siblings.clear()
                self._hit(name, _RECORD)
            self._seen[name] += 1

    def _inside(self, name: str, attributes: dict[str, str], level: int) -> None:
        if level == 1:
            self._nth = self._siblings[name]
            self._siblings[name] += 1
        if self._nth != self._error.ordinal or self._target is None:
            return
        tag = self._error.tag
        if name == tag:
            self._hit(self._target, _TAG)
            self._open[len(self._path)] = self._here()
        elif tag in attributes:
            same = attributes[tag].strip() == self._error.text
            self._hit(self._target, _TEXT if same else _TAG)

    def _end(self, name: str) -> None:
        depth = len(self._path)
        text = "".join(self._text).strip()
        place = self._open.pop(depth, None)
        if place is not None and text == self._error.text and self._target is not None:
            self._hit(self._target, _TEXT, place)
        if self._path == ["MSG", "META", "TYPE"]:
            self._type = text
        if self._target is not None and depth == self._depth:
            self._target = None
        self._path.pop()

    def _data(self, text: str) -> None:
        self._text.append(text)

    def _is_record(self, name: str, depth: int) -> bool:
        if depth == 2:
            return name in _RECORDS
        return depth == 3 and name == "FLTR" and self._path[1] == "SCHD"

    def _here(self) -> Place:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _hit(self, records: str, rank: int, place: Place | None = None) -> None:
        if rank > self._best.get(records, (0, (0, 0)))[0]:
            self._best[records] = (rank, place or self._here())
