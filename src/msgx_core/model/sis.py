"""The SIS tag tables as data: codec, merge, columns, JSON, docs and test strategies are driven by them.

Source: IMP §11.3, §12.2, §13.2 with D-18, D-19 and `wire` facts. Adding a tag is one line here.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen


class Kind(enum.Enum):
    """How the text of a value must look; values are kept as the text that was sent."""

    TEXT = "text"
    TIME = "time"  # DDMMMYYHHMM, airport local time
    DURATION = "duration"  # HHMM
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLID = "flid"  # 1-12 digits, kept as a number


@frozen
class Scalar:
    """Text of one child element; present overwrites, empty clears (IMP §11.3)."""

    tag: str
    kind: Kind
    group: str


@frozen
class Single:
    """A single-value element with attributes. `cleared_by` is the attribute whose blank clears it."""

    tag: str
    attributes: tuple[str, ...]
    cleared_by: str | None


@frozen
class Collection:
    """A repeated element: order counts, replaced as a whole (IMP §11.3, D-19).

    `sequence` is the attribute kept as SOURCE_SEQ; `limit` the wire capacity (None: none);
    `keep` how many are kept (None: all). `attributes` are read from attributes, `keys` from children,
    `has_text` says that the element's own text is kept under `TEXT`.
    """

    tag: str
    sequence: str | None
    keys: Mapping[str, Kind]
    limit: int | None
    attributes: Mapping[str, Kind] = MappingProxyType({})
    has_text: bool = False
    truncated: bool = False
    section: str = ""

    @property
    def first_key(self) -> str:
        """The key by which people name an element (`GATE`, `CHKC`, …)."""
        return next(iter(self.attributes or self.keys))


class Whitelist(enum.Enum):
    """The smallest named `FLOP` whitelist that lets a STYP in (D-18)."""

    BASELINE = "baseline"
    ALL = "all"
    EXTENDED = "extended"


class OnEmpty(enum.Enum):
    """What an empty tag of a `FLOP` means (IMP §12.2, D-18)."""

    CLEAR = "clear"
    MALFORMED = "malformed"
    CLEAR_ALL_OF_ROW = "clear-all-of-row"


@frozen
class FlopRow:
    """One STYP of `FLOP`: the tags that belong to it and what their emptiness means."""

    styp: str
    tags: tuple[str, ...]
    on_empty: OnEmpty
    whitelist: Whitelist
    section: str


@frozen
class RefCategory:
    """A reference data category and the tag that keys its records (IMP §13.2)."""

    rtype: str
    key: str
    meaning: str
    section: str


def _scalars() -> Mapping[str, Scalar]:
    groups = (
        ("identity and plan", Kind.TEXT, "ALCD ALSC FLNO MVIN FLTY FLIN ACFT RENO"),
        ("identity and plan", Kind.TIME, "SODT"),
        ("leg and operation", Kind.TEXT, "TAOP TAFL TRML CSOP CSFT"),
        ("leg and operation", Kind.FLID, "TAID MAID"),
        ("times", Kind.TIME, "ESTT ACTT BOTM LACL FINT APPT EGSR EGST NAAT NEAT PEDT"),
        # IMP lists these two among the times; on the wire they are text.
        ("times", Kind.TEXT, "PADT FTSS"),
        ("resources and status", Kind.TEXT, "STND PHAG FHAG MHAG CNCL REMC BDPB EXSC EXSR"),
        ("resources and status", Kind.INTEGER, "MAXP VIPP VIPR LBNO PAXC"),
        ("resources and status", Kind.DECIMAL, "LBWT"),
    )
    rows = (Scalar(tag, kind, group) for group, kind, tags in groups for tag in tags.split())
    return MappingProxyType({row.tag: row for row in rows})


def _kinds(text: str = "", time: str = "", duration: str = "") -> dict[str, Kind]:
    kinds = dict.fromkeys(text.split(), Kind.TEXT) | dict.fromkeys(time.split(), Kind.TIME)
    return kinds | dict.fromkeys(duration.split(), Kind.DURATION)


def _collections() -> Mapping[str, Collection]:
    def row(tag: str, seq: str | None, limit: int | None, order: str, time: str, section: str) -> Collection:
        times = time.split()
        keys = {key: Kind.TIME if key in times else Kind.TEXT for key in order.split()}
        return Collection(tag, seq, MappingProxyType(keys), limit, section=section)

    rows = (
        row("GTDT", "GTNO", 99, "GATE PGOT PGCT GOTM GCTM GTYP", "PGOT PGCT GOTM GCTM", "SIS:3.34"),
        row("CKDT", "CKNO", 99, "CHKC CCLS PCOT PCCT COTM CCTM CTYP", "PCOT PCCT COTM CCTM", "SIS:3.24"),
        row("CLDT", "CLNO", 99, "BELT BCLS PCOT PCCT FBAG LBAG BTYP", "PCOT PCCT FBAG LBAG", "SIS:3.25"),
        row("CHDT", "CHNO", 99, "CHUT CCLS PCBT PCET CBTM CETM CTYP", "PCBT PCET CBTM CETM", "SIS:3.26"),
        row("PSDT", "PSNO", 9, "PSST STST STET", "STST STET", "SIS:3.38"),
        row("CHOT", "CSNO", 99, "CHTM CHID CHST", "CHTM", "SIS:3.22"),
        Collection(
            "DELY",
            None,
            MappingProxyType({}),
            None,
            MappingProxyType(_kinds("CODE", "STRT", "DURA")),
            has_text=True,
            section="XSD FLOP",
        ),
        row("ABTM", "ASNO", 99, "ABDG ABOP AOTM", "AOTM", "XSD FLOP"),
        # SCAT and SCDT are sent and never kept (US-05 AC3, D-19).
        Collection("ROUT", "RTNO", MappingProxyType(_kinds("APCD")), 6, truncated=True, section="SIS:3.40"),
        Collection("ERUT", "RTNO", MappingProxyType(_kinds("APCD")), 7, truncated=True, section="SIS:3.40"),
    )
    return MappingProxyType({row.tag: row for row in rows})


def _flop_rows() -> Mapping[str, FlopRow]:
    mandatory = {"ACFT", "FLTY", "FLIN"}
    several: dict[str, tuple[str, ...]] = {"HNAG": ("PHAG", "FHAG", "MHAG"), "TAOP": ("TAOP", "TAFL", "TAID")}
    several |= {"VIPP": ("VIPP", "VIPR"), "EXSS": ("EXSC", "EXSR")}
    lists = (
        (Whitelist.BASELINE, "ABTM DELY PSDT CKDT CLDT CHDT GTDT", "SIS:3.24-3.38, XSD FLOP"),
        (
            Whitelist.ALL,
            "ACFT ACTT BOTM CHOT FLTY CNCL ESTT FDIV FINT FLIN FRET LACL MAXP HNAG RENO ROUT TAOP TRML VIPP",
            "SIS:3.19-3.43",
        ),
        (Whitelist.ALL, "PADT FTSS STND BDPB REMC", "legacy"),
        (Whitelist.EXTENDED, "APPT EGSR EGST NAAT NEAT PEDT EXSS ERUT", "seen upstream"),
    )

    def on_empty(styp: str) -> OnEmpty:
        if styp in mandatory:
            return OnEmpty.MALFORMED
        return OnEmpty.CLEAR_ALL_OF_ROW if styp == "TAOP" else OnEmpty.CLEAR

    return MappingProxyType(
        {
            styp: FlopRow(styp, several.get(styp, (styp,)), on_empty(styp), whitelist, section)
            for whitelist, styps, section in lists
            for styp in styps.split()
        }
    )


def _categories() -> Mapping[str, RefCategory]:
    rows = (
        ("COUL", "COUC", "countries"),
        ("ARPT", "ITCD", "airports"),
        ("AIRL", "ITOP", "airlines"),
        ("AIRC", "ITAT", "aircraft types"),
        ("REGN", "RNUM", "registrations"),
        ("ORGN", "OGID", "organisations"),
        ("FLTL", "FTYP", "flight types"),
        ("TLST", "TCOD", "terminals"),
        ("GLST", "GCOD", "gates"),
        ("SLST", "SCOD", "stands"),
        ("CLST", "CCOD", "check-in desks"),
        ("BLST", "BCOD", "baggage belts"),
        ("CHLT", "CCOD", "baggage chutes"),
    )
    return MappingProxyType(
        {r: RefCategory(r, key, text, f"SIS:3.{n}") for n, (r, key, text) in enumerate(rows, start=1)}
    )


SCALARS: Mapping[str, Scalar] = _scalars()
SINGLES: Mapping[str, Single] = MappingProxyType(
    {
        "FDIV": Single("FDIV", ("DDES", "DDIR"), cleared_by="DDES"),
        "FRET": Single("FRET", ("REID",), cleared_by=None),
    }
)
COLLECTIONS: Mapping[str, Collection] = _collections()
FLOP_ROWS: Mapping[str, FlopRow] = _flop_rows()
RAW_SECTIONS: tuple[str, ...] = ("SRVT", "VIPF")
"""Sections of a complete record kept as raw XML and never merged (D-39)."""

CATEGORIES: Mapping[str, RefCategory] = _categories()
RSTA = "RSTA"
RSTA_TYPES = frozenset({"BELT", "CNTR", "GATE", "STND"})
RSTA_STATUSES = frozenset({"E", "D"})

MODEL_TAGS: tuple[str, ...] = (*SCALARS, *SINGLES, *COLLECTIONS)
"""Every tag of the flight model in table order; JSON and CHANGED follow it. `MAFL` is derived."""

MAX_VALUE_CHARS = 4000
MAX_KEY_CHARS = 64


def whitelist(name: str) -> frozenset[str]:
    """STYPs let in by a named whitelist: `baseline`, `all` or `extended` (D-18).

    >>> sorted(whitelist("baseline"))
    ['ABTM', 'CHDT', 'CKDT', 'CLDT', 'DELY', 'GTDT', 'PSDT']
    """
    order = list(Whitelist)
    top = order.index(Whitelist(name))
    return frozenset(s for s, row in FLOP_ROWS.items() if order.index(row.whitelist) <= top)
