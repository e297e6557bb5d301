"""Messages between Python and a column of text or of bytes (D-44)."""

from __future__ import annotations

import codecs
import re

from msgx_core.ports.codec import RawText

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(rb"<\?xml\s[^>]*?\sencoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]{0,39})[\"']")
_CHINESE = frozenset({"gb2312", "gbk"})


def as_text(raw: RawText) -> str:
    """What a text column holds of a message; its declaration is ignored from then on.

    Bytes are decoded by mark, else by declaration, else as UTF-8. Raises `ValueError` for what is no text.
    """
    if isinstance(raw, str):
        raw.encode()
        return raw
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), None) or _declared(raw)
    try:
        return raw.decode(encoding)
    except LookupError:
        raise ValueError(f"unknown encoding {encoding}: a text mailbox cannot hold these bytes") from None


def as_bytes(raw: RawText) -> bytes:
    """What a column of bytes holds of a message: bytes as they are, text as UTF-8."""
    return raw.encode() if isinstance(raw, str) else raw


def _declared(raw: bytes) -> str:
    found = _DECLARED.match(raw)
    name = found[1].decode() if found else "utf-8"
    try:
        # Senders write GB2312 and use the characters of its successors.
        return "gb18030" if codecs.lookup(name).name in _CHINESE else name
    except LookupError:
        return name
