"""Every kind of message, and of work, that the crash matrix is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from xml.sax.saxutils import quoteattr

from attrs import evolve

from crashing.bench import AIRPORT, Act, Bench, Kind, Phase, with_policy
from msgx_core.model.schedule import DnldCoverage
from msgx_core.model.sis import CATEGORIES, COLLECTIONS, FLOP_ROWS, SCALARS, SINGLES
from msgx_core.model.sis import Kind as ValueKind
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.rules.policy import MissingFlight
from msgx_core.rules.retry import WritebackPolicy
from wire import adft, fdel, flop, fltr, gate, message, reference, schedule

DAY = date(2027, 3, 14)
WINDOW = [
    fltr(1, "14MAR270805"),
    fltr(2, "14MAR271000"),
    fltr(3, "14MAR272300"),
    fltr(4, "15MAR270100"),
    fltr(5, "15MAR270900"),
    fltr(7, "14MAR271100"),
    fltr(10, "14MAR271200"),
    fltr(11, "14MAR271200", MAID="10"),
    fltr(12, "14MAR271200", MAID="10"),
]
GATES = reference("GLST", "DNLD", ["<GCOD>B01</GCOD>", "<GCOD>B02</GCOD>"])


def drain(bench: Bench) -> None:
    """Everything to its end."""
    bench.drain()


def sends(*raws: bytes) -> Act:
    """Messages come into the mailbox."""

    def act(bench: Bench) -> None:
        for raw in raws:
            bench.parts.inbox.send(raw)

    return act


def quietly(act: Act, after: timedelta = timedelta(minutes=10)) -> Phase:
    """Something that happens once and without crashes."""
    return Phase(act, after, quiet=True)


DRAINED = Phase(drain)
BEFORE = (quietly(sends(schedule("DNLD", WINDOW), fdel(7), GATES)), quietly(drain))
"""Flights of two days, a main flight with two children, a deleted flight, two gates."""


def of(name: str, *raws: bytes, config: PipelineConfig = AIRPORT, before: Sequence[Phase] = BEFORE) -> Kind:
    """Messages that come in together and are worked off."""
    return Kind(name, (quietly(sends(*raws)), DRAINED), before, config)


def _value(tag: str) -> str:
    texts = {
        ValueKind.TIME: "14MAR271030",
        ValueKind.INTEGER: "120",
        ValueKind.DECIMAL: "1200.5",
        ValueKind.FLID: "10",
        ValueKind.DURATION: "0130",
    }
    return texts.get(SCALARS[tag].kind, "X1")


def _collection(tag: str) -> str:
    row = COLLECTIONS[tag]
    texts = {ValueKind.TIME: "14MAR271030", ValueKind.DURATION: "0130"}

    def element(number: int) -> str:
        names = {} if row.sequence is None else {row.sequence: str(number)}
        names |= {name: texts.get(kind, f"A{number}") for name, kind in row.attributes.items()}
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in names.items())
        inside = "".join(f"<{k}>{texts.get(kind, f'K{number}')}</{k}>" for k, kind in row.keys.items())
        return f"<{tag}{attributes}>{'late' if row.has_text else inside}</{tag}>"

    return element(1) + element(2)


def body_of(tag: str) -> str:
    """A value of a tag, as the tables describe it."""
    if tag in SCALARS:
        return f"<{tag}>{_value(tag)}</{tag}>"
    if tag in SINGLES:
        attributes = "".join(f' {name}="KMG"' for name in SINGLES[tag].attributes)
        return f"<{tag}{attributes}>why</{tag}>"
    return _collection(tag)


def _flops() -> list[Kind]:
    """Each STYP of every whitelist with all its tags."""
    config = with_policy(flop_whitelist=frozenset(FLOP_ROWS))
    return [
        of(f"FLOP {styp}", flop(1, styp, "".join(map(body_of, row.tags))), config=config)
        for styp, row in FLOP_ROWS.items()
    ]


def _categories() -> list[Kind]:
    """Each category: a full list, single records, an answer that nobody asked for."""

    def records(rtype: str, *keys: str) -> list[str]:
        tag = CATEGORIES[rtype].key
        return [f'<{tag}>{key}</{tag}><ABBR CODE="A">{key}</ABBR><CNMC/>' for key in keys]

    return [
        of(
            f"reference {rtype}",
            reference(rtype, "DNLD", records(rtype, "R1", "R2")),
            reference(rtype, "ADD", records(rtype, "R3")),
            reference(rtype, "UPD", records(rtype, "R1")),
            reference(rtype, "DEL", records(rtype, "R2", "R9")),
            reference(rtype, "RESP", records(rtype, "R4", "R5")),
        )
        for rtype in CATEGORIES
    ]


def _rsta(styp: str, *records: Mapping[str, str]) -> bytes:
    return reference(
        "RSTA",
        styp,
        ["".join(f"<{tag}>{text}</{tag}>" for tag, text in record.items()) for record in records],
    )


def _single_day(*records: str) -> bytes:
    return schedule("DNLD", records)


_DAY_14 = [WINDOW[0], fltr(6, "14MAR271500", REMC="新的"), fltr(10, "14MAR271200"), WINDOW[7]]

SCHEDULES = (
    of("SCHD window", schedule("DNLD", [fltr(1, ACFT="320"), fltr(6, "14MAR271500"), WINDOW[1]])),
    of("SCHD window, empty", schedule("DNLD", [])),
    of(
        "SCHD single day",
        schedule("DNLD", _DAY_14),
        config=with_policy(dnld_coverage=DnldCoverage.SINGLE_DAY),
    ),
    of(
        "SCHD single day, several in it",
        schedule("DNLD", [WINDOW[0], WINDOW[3]]),
        config=with_policy(dnld_coverage=DnldCoverage.SINGLE_DAY),
    ),
    of(
        "SCHD interval",
        schedule("DNLD", [WINDOW[0], WINDOW[2]]),
        config=with_policy(dnld_coverage=DnldCoverage.OBSERVED),
    ),
    of("SCHD without change", schedule("DNLD", WINDOW[:5]), config=with_policy(suppress_unchanged=True)),
    of("SCHD code share moves", schedule("DNLD", [fltr(11, "14MAR271200", MAID="1"), fltr(12, FLNO="QX99")])),
    of("SCHD revives", schedule("DNLD", [fltr(7, "14MAR271100")])),
    of("SCHD bad value", schedule("DNLD", [fltr(1, ESTT="soon", MAXP="many")])),
    of(
        "SCHD raw sections",
        schedule("DNLD", [fltr(1).replace("</FLTR>", "<SRVT><OPER>A</OPER></SRVT></FLTR>")]),
    ),
    of("SCHD other day", schedule("DNLD", [fltr(1, "16MAR270805"), fltr(6, "16MAR270905")])),
    of("SCHD recs-mismatch", schedule("DNLD", WINDOW[:2], recs=3)),
    of("SCHD duplicate-flid", schedule("DNLD", [WINDOW[0], WINDOW[0]])),
    of("SCHD RESP unmatched", schedule("RESP", WINDOW[:2])),
)

SINGLE = (
    of("ADFT new", adft(fltr(6, "14MAR271500"))),
    of("ADFT sets", adft(fltr(1, ACFT="738"))),
    of("ADFT revives", adft(fltr(7, "14MAR271100"))),
    of("ADFT child", adft(fltr(13, "14MAR271200", MAID="10"))),
    of("ADFT renames a child", adft(fltr(11, "14MAR271200", FLNO="QX1100"))),
    of("ADFT other day", adft(fltr(1, "16MAR270805"))),
    of("FLOP empty", flop(1, "GTDT", '<GTDT GTNO="0"/>')),
    of("FLOP unknown flight", flop(90, "GTDT", gate("B01"))),
    of(
        "FLOP unknown flight skipped",
        flop(90, "GTDT", gate("B01")),
        config=with_policy(missing_flight=MissingFlight.SKIP),
    ),
    of(
        "FLOP waits for its flight",
        flop(90, "GTDT", gate("B01")),
        schedule("DNLD", [fltr(90, "14MAR271600")]),
    ),
    of("FLOP unsupported", flop(1, "SRVT", "<SRVT/>")),
    of("FLOP deleted flight", flop(7, "GTDT", gate("B01"))),
    of("FLOP bad time", flop(1, "PSDT", '<PSDT PSNO="1"><PSST>215</PSST><STST>soon</STST></PSDT>')),
    of("FDEL", fdel(1)),
    of("FDEL main flight", fdel(10)),
    of("FDEL child", fdel(11)),
    of("FDEL already gone", fdel(7)),
    of("FDEL and rebuild", fdel(1), adft(fltr(1, ACFT="738")), flop(1, "GTDT", gate("B01"))),
)

_SMALL = evolve(AIRPORT, claim_batch=2, event_batch=2, schd_flush_limit=2, writeback=WritebackPolicy(batch=2))
OTHERS = (
    of(
        "small batches",
        schedule("DNLD", WINDOW[:5]),
        *[flop(n, "GTDT", gate("B01")) for n in range(1, 5)],
        config=_SMALL,
    ),
    of("RSTA", _rsta("DNLD", {"RTYP": "GATE", "RSID": "B01", "STAT": "D", "STRT": "14MAR270800"})),
    of(
        "RSTA several",
        _rsta(
            "RESP", {"RTYP": "GATE", "RSID": "B01", "STAT": "E"}, {"RTYP": "BELT", "RSID": "9", "STAT": "D"}
        ),
    ),
    of("reference recs-mismatch", message("CLST", "DNLD", "<RECS>2</RECS><CLST><CCOD>1</CCOD></CLST>")),
    of("season", message("SCHS", "DNLD", "<SCHS><RECS>0</RECS></SCHS>")),
    of("EROR without a request", message("EROR", "NONE", "<EROR><ERCD>9</ERCD></EROR>")),
    of("not XML", b"<MSG><META>"),
    of("entity bomb", b'<!DOCTYPE x [<!ENTITY a "b">]><MSG><META/></MSG>'),
    of("no text", b"  "),
    of(
        "duplicate",
        flop(1, "GTDT", gate("B01"), seqn=77),
        flop(1, "GTDT", gate("B01"), seqn=77),
    ),
    of(
        "duplicate of other content",
        flop(1, "GTDT", gate("B01"), seqn=77),
        flop(2, "GTDT", gate("B09"), seqn=77),
    ),
)

MESSAGES: tuple[Kind, ...] = (*SCHEDULES, *SINGLE, *OTHERS, *_flops(), *_categories())
