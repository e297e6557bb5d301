"""`LxmlCodec`: small messages as a tree, large ones as a stream that is taken apart while it grows."""

from __future__ import annotations

from contextlib import closing, suppress
from itertools import islice

from lxml import etree

from msgx_adapters.codec_lxml.body import Reader, reader_for
from msgx_adapters.codec_lxml.meta import read_meta
from msgx_adapters.codec_lxml.parsing import grow, line_of, new_parser, refuse_doctype, syntax_fault
from msgx_adapters.codec_lxml.places import find_place
from msgx_adapters.codec_lxml.text import to_utf8
from msgx_core.errors import Malformed, MessageError
from msgx_core.model.message import DecodedMessage, kind_of
from msgx_core.ports.codec import RawText

STREAM_ABOVE_BYTES = 256 * 1024
_META = "META"


class LxmlCodec:
    """The `Codec` on lxml (R-050, R-460, D-44). Usable from several threads.

    `max_bytes` bounds a message in UTF-8 bytes, or in raw bytes when bytes come in.
    """

    def __init__(self, max_bytes: int = 10 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        # Never lxml's default parser: any library in the process may have replaced it.
        self._parser = new_parser()

    def decode(self, raw: RawText) -> DecodedMessage:
        """See `Codec.decode`."""
        data = to_utf8(raw, self._max_bytes)
        refuse_doctype(data)
        try:
            return self._whole(data) if len(data) <= STREAM_ABOVE_BYTES else _streamed(data)
        except etree.XMLSyntaxError as error:
            raise syntax_fault(error, data) from error

    def locate(self, raw: RawText, error: MessageError) -> None:
        """See `Codec.locate`."""
        # A place is a help to people; failing to find one must not hide the error itself.
        with suppress(Exception):
            place = find_place(to_utf8(raw, self._max_bytes), error)
            if place is not None:
                error.line, error.column = place

    def _whole(self, data: bytes) -> DecodedMessage:
        root = etree.fromstring(data, self._parser)
        _check_root(root)
        meta = read_meta(root, _find_meta(root, len(root)))
        kind = kind_of(meta.type, meta.styp)
        reader = reader_for(kind, meta)
        _take(root, len(root), reader)
        return DecodedMessage(meta, kind, reader.body, reader.ignored.counts)


def _streamed(data: bytes) -> DecodedMessage:
    """META first, wherever it stands: nothing of a body can be read without its kind."""
    with closing(grow(data)) as growing:
        for root, complete in growing:
            if complete:
                _check_root(root)
            found = _find_meta(root, len(root) if complete else len(root) - 1)
            if complete or found is not None:
                break
            _drop(root)
        try:
            meta = read_meta(root, found)
        except Malformed:
            # Whether the rest is well-formed comes first, as it does for small messages.
            for root, _ in growing:
                _drop(root)
            raise
    kind = kind_of(meta.type, meta.styp)
    reader = reader_for(kind, meta)
    for root, complete in grow(data):
        _take(root, len(root) if complete else len(root) - 1, reader)
        if not complete:
            _drop(root, reader)
    return DecodedMessage(meta, kind, reader.body, reader.ignored.counts)


def _take(root: etree._Element, count: int, reader: Reader) -> None:
    for child in islice(root, max(count, 0)):
        if child.tag != _META:
            reader.child(child)


def _drop(root: etree._Element, reader: Reader | None = None) -> None:
    """Delete what is complete, so that memory holds one chunk of the tree; the last child may be open."""
    del root[:-1]
    for child in root:
        if child.tag != _META:
            (reader or Reader()).open(child)


def _find_meta(root: etree._Element, count: int) -> etree._Element | None:
    return next((child for child in islice(root, max(count, 0)) if child.tag == _META), None)


def _check_root(root: etree._Element) -> None:
    if root.tag != "MSG":
        raise Malformed("wrong-root", tag=root.tag, line=line_of(root))
