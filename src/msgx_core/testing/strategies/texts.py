"""Texts of values: legal ones of each kind, and ones that are not of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import strategies as st

from msgx_core.model.sis import Kind

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


def wire_time(local: datetime) -> str:
    """`DDMMMYYHHMM` of a naive local time.

    >>> wire_time(datetime(2021, 1, 23, 5, 35))
    '23JAN210535'
    """
    return f"{local:%d}{MONTHS[local.month - 1]}{local:%y%H%M}"


FLIDS = st.integers(1, 999_999_999_999)
"""Flight numbers as numbers."""

WORDS = st.sampled_from(["B1", "北京首都", "<&>", "]]>", "a 'b\" c", "0", "\U00020bb7野家"]) | st.text(
    st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6
).map(str.strip).filter(bool)
"""Trimmed text, Chinese and markup signs among it, never empty."""

XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20
).map(str.strip)
"""Any trimmed text that XML can hold, the empty one too."""


def local_times(first: datetime, last: datetime) -> st.SearchStrategy[datetime]:
    """Naive local times in whole minutes, both ends included."""
    minutes = st.integers(0, int((last - first) / timedelta(minutes=1)))
    return minutes.map(lambda n: first + timedelta(minutes=n))


TIMES = local_times(datetime(2000, 1, 1), datetime(2099, 12, 31, 23, 59)).map(wire_time)
DURATIONS = st.builds("{:02}{:02}".format, st.integers(0, 99), st.integers(0, 59))

LEGAL: dict[Kind, st.SearchStrategy[str]] = {
    Kind.TEXT: WORDS,
    Kind.TIME: TIMES,
    Kind.DURATION: DURATIONS,
    Kind.INTEGER: st.integers(-999, 10**18 - 1).map(str),
    Kind.DECIMAL: st.decimals(-999, 99_999, places=2).map(str),
    Kind.FLID: FLIDS.map(str),
}
"""Legal text of each kind, never empty."""

_NOT_TIMES = "32MAR271200 30FEB270100 14MAR272400 14mar271200 soon 2027-03-14".split()
ILLEGAL: dict[Kind, st.SearchStrategy[str]] = {
    Kind.TIME: st.sampled_from(_NOT_TIMES),
    Kind.DURATION: st.sampled_from(["0260", "2h", "120"]),
    Kind.INTEGER: st.sampled_from(["many", "1.5", "1e3", "٣"]),
    Kind.DECIMAL: st.sampled_from(["heavy", "1,5", "."]),
    Kind.FLID: st.sampled_from(["x", "0", "-7", "1234567890123"]),
}
"""Text that is not of its kind; any text is a `TEXT`."""
