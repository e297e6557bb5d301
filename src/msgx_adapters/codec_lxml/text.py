"""Raw mailbox content to UTF-8 bytes: size, encoding, and places in the text (D-44)."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from msgx_core.errors import Malformed
from msgx_core.ports.codec import RawText

_BOMS = (
    # The mark of UTF-32 LE begins with that of UTF-16 LE, so it comes first.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"(?:\xef\xbb\xbf)?<\?xml\s[^>]*?(?<=\s)(encoding\s*=\s*(?:\"(?P<q2>[^\">]*)\"|'(?P<q1>[^'>]*)'))"
)
_CHINESE = frozenset({"gb2312", "gbk"})
_SAFE = frozenset(
    {
        *("utf-8", "ascii", "gb18030", "big5", "big5hkscs", "cp950", "euc_jp", "shift_jis", "cp932"),
        *("euc_kr", "koi8-r", "cp1250", "cp1251", "cp1252"),
        *(f"iso8859-{part}" for part in (1, 2, 3, 4, 5, 7, 9, 10, 13, 14, 15, 16)),
    }
)
"""Encodings in which a declaration can be read as ASCII; a codec such as `unicode_escape` is none."""


def to_utf8(raw: RawText, max_bytes: int) -> bytes:
    """The message as UTF-8, line for line as it was sent.

    Raises `Malformed` `too-large:<bytes>` or `bad-encoding` with line, column and offset.
    """
    if isinstance(raw, str):
        return _from_text(raw, max_bytes)
    if len(raw) > max_bytes:
        raise _too_large(raw, max_bytes)
    encoding = _encoding_of(raw)
    if encoding == "utf-8" and raw.isascii():
        return raw
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode(encoding, "replace").removeprefix("\ufeff")
        line, column = _end_of(before)
        raise Malformed("bad-encoding", line=line, column=column, text=f"byte {error.start}") from error
    return raw if encoding == "utf-8" else text.encode()


def _too_large(data: bytes, max_bytes: int) -> Malformed:
    """With the place of the first byte beyond the limit."""
    line, column = place_of(data, max_bytes)
    return Malformed(f"too-large:{len(data)}", line=line, column=column, text=f"limit {max_bytes} bytes")


def place_of(data: bytes, offset: int) -> tuple[int, int]:
    """Line and column, from 1 and in characters, of an offset into UTF-8 bytes."""
    start = data.rfind(b"\n", 0, offset) + 1
    before = data[start:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    return data.count(b"\n", 0, offset) + 1, len(before) + 1


def _from_text(raw: str, max_bytes: int) -> bytes:
    try:
        data = raw.encode()
    except UnicodeEncodeError as error:
        size = len(raw.encode("utf-8", "surrogatepass"))
        if size > max_bytes:
            raise Malformed(f"too-large:{size}") from error
        line, column = _end_of(raw[: error.start])
        place = f"byte {len(raw[: error.start].encode())}"
        raise Malformed("bad-encoding", line=line, column=column, text=place) from error
    if len(data) > max_bytes:
        raise _too_large(data, max_bytes)
    declared = _DECLARED.match(data)
    if declared is None or _name_in(declared).lower() == "utf-8":
        return data
    # Blanks instead of the declared name keep every line and column where it was.
    start, end = declared.span(1)
    return data[:start] + re.sub(rb"[^\r\n]", b" ", data[start:end]) + data[end:]


def _encoding_of(raw: bytes) -> str:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return encoding
    declared = _DECLARED.match(raw)
    if declared is None:
        return "utf-8"
    name = _name_in(declared)
    known = _python_name(name)
    if known is None:
        line, column = place_of(raw, declared.start(1))
        raise Malformed("bad-encoding", line=line, column=column, text=name)
    return known


def _name_in(declared: re.Match[bytes]) -> str:
    return (declared["q2"] or declared["q1"] or b"").decode("latin-1")


@lru_cache(maxsize=64)
def _python_name(name: str) -> str | None:
    """The Python codec for a declared encoding; None when it is unknown or does not contain ASCII."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]{0,39}", name):
        return None
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    # Senders write GB2312 and use the characters of its successors.
    found = "gb18030" if found in _CHINESE else found
    return found if found in _SAFE else None


def _end_of(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
