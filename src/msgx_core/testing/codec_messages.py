"""Messages for the codec suite: builders of wire text, each record on a line of its own."""

from __future__ import annotations

from collections.abc import Mapping

from msgx_core.testing.wire import PROLOG, ROOT

META: Mapping[str, str] = {
    "SNDR": "AODB",
    "SEQN": "17",
    "DTTM": "20270314060000",
    "TYPE": "FLOP",
    "STYP": "GTDT",
}


def meta(**changes: str | None) -> str:
    """A `META` on one line; a value of None leaves the tag out."""
    values = {**META, **changes}
    return "<META>" + "".join(f"<{t}>{v}</{t}>" for t, v in values.items() if v is not None) + "</META>"


def message(body: str = "", type_: str = "FLOP", styp: str = "GTDT", *, meta_last: bool = False) -> str:
    """A message: prolog, `MSG` on line 2, `META` and the body."""
    head = meta(TYPE=type_, STYP=styp)
    inside = body + head if meta_last else head + body
    return f"{PROLOG}{ROOT}{inside}</MSG>"


def schedule(*records: str, recs: int | None = None, styp: str = "DNLD", meta_last: bool = False) -> str:
    """A schedule of `FLTR` texts; each record starts on a line of its own, the first on line 3."""
    declared = len(records) if recs is None else recs
    body = f"<SCHD><RECS>{declared}</RECS>" + "".join(f"\n<FLTR>{r}</FLTR>" for r in records) + "</SCHD>"
    return message(body, "SCHD", styp, meta_last=meta_last)
