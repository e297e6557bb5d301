"""`META` to its five checked values (wire: Envelope)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from lxml import etree

from msgx_adapters.codec_lxml.parsing import line_of
from msgx_core.errors import Malformed
from msgx_core.model.message import Meta

# Parts of the identity: a bar or white space inside would let two messages share one key.
_NAME = re.compile(r"[^\s|]{1,64}")
_CODE = re.compile(r"[^\s|]{1,20}")
_SEQN = re.compile(r"[0-9]{1,18}")  # what a 64-bit integer holds
_DTTM = re.compile(r"[0-9]{14}")
_DTTM_PARTS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14))
_RULES = {"SNDR": _NAME, "SEQN": _SEQN, "DTTM": _DTTM, "TYPE": _CODE, "STYP": _CODE}


def read_meta(root: etree._Element, found: etree._Element | None) -> Meta:
    """The metadata in the `META` element found under `root`.

    Raises `Malformed` `meta-missing:<tag>`, or, when all are there, `meta-invalid:<tag>`.
    """
    if found is None:
        raise Malformed("meta-missing:META", tag="META", line=line_of(root))
    values = {child.tag: (child.text or "").strip() for child in found}
    for tag in _RULES:
        if not values.get(tag):
            raise Malformed(f"meta-missing:{tag}", tag=tag, line=_line(found, tag))
    for tag, rule in _RULES.items():
        text = values[tag]
        if rule.fullmatch(text) is None or (tag == "DTTM" and not _is_time(text)):
            raise Malformed(f"meta-invalid:{tag}", tag=tag, text=text, line=_line(found, tag))
    return Meta(values["SNDR"], values["SEQN"], values["DTTM"], values["TYPE"], values["STYP"])


def _is_time(text: str) -> bool:
    year, month, day, hour, minute, second = (int(text[a:b]) for a, b in _DTTM_PARTS)
    try:
        # Only the calendar is asked; which zone the sender means is not the codec's business.
        datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return False
    return True


def _line(found: etree._Element, tag: str) -> int | None:
    lines = [line_of(child) for child in found if child.tag == tag]
    return lines[-1] if lines else line_of(found)
