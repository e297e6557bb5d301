"""Messages as upstream writes them, in one line each, for tests of the wired system."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from xml.sax.saxutils import escape

_SEQN = count(1)


def message(
    type_: str, styp: str, body: str, *, seqn: int | None = None, dttm: str = "20270314060000"
) -> bytes:
    """An envelope with the next `SEQN`, unless one is given."""
    number = next(_SEQN) if seqn is None else seqn
    meta = f"<SNDR>AODB</SNDR><SEQN>{number}</SEQN><DTTM>{dttm}</DTTM><TYPE>{type_}</TYPE><STYP>{styp}</STYP>"
    return f'<?xml version="1.0" encoding="UTF-8"?><MSG><META>{meta}</META>{body}</MSG>'.encode()


def tags(values: dict[str, str]) -> str:
    """Child elements with their text."""
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in values.items())


def fltr(flid: int, sodt: str | None = "14MAR270805", **values: str) -> str:
    """One complete record."""
    plan = {} if sodt is None else {"SODT": sodt}
    return f"<FLTR>{tags({'FLID': str(flid), 'FLNO': f'QX{flid}', **plan, **values})}</FLTR>"


def schedule(styp: str, records: Iterable[str], *, recs: int | None = None, **meta: object) -> bytes:
    """A package of complete records."""
    listed = list(records)
    declared = len(listed) if recs is None else recs
    return message("SCHD", styp, f"<SCHD><RECS>{declared}</RECS>{''.join(listed)}</SCHD>", **meta)  # type: ignore[arg-type]


def adft(record: str) -> bytes:
    """One extra flight."""
    return message("SCHD", "ADFT", f"<SCHD>{record}</SCHD>")


def flop(flid: int, styp: str, body: str, *, seqn: int | None = None) -> bytes:
    """One change of one flight."""
    return message("FLOP", styp, f"<FLOP><FLID>{flid}</FLID>{body}</FLOP>", seqn=seqn)


def fdel(flid: int) -> bytes:
    """A deletion."""
    return flop(flid, "FDEL", "<FDEL/>")


def gate(name: str, number: int = 1) -> str:
    """One gate of a `FLOP` `GTDT`."""
    return f'<GTDT GTNO="{number}"><GATE>{name}</GATE></GTDT>'


def reference(rtype: str, styp: str, records: Iterable[str]) -> bytes:
    """A reference message; records are given as the inside of each element."""
    listed = [f"<{rtype}>{inside}</{rtype}>" for inside in records]
    return message(rtype, styp, f"<RECS>{len(listed)}</RECS>{''.join(listed)}")


def error_answer(**values: str) -> bytes:
    """An `EROR`."""
    return message("EROR", "NONE", f"<EROR>{tags(values)}</EROR>")
