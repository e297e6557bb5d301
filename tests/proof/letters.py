"""What upstream sends here: shipped strategies, on few flights and days so that messages meet each other."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from hypothesis import strategies as st

from msgx_core.model.message import MsgKind
from msgx_core.model.sis import MODEL_TAGS
from msgx_core.testing import strategies
from msgx_core.testing.strategies import FAULTS, ODDITIES
from msgx_core.testing.wire import Fault, PlainRecord, PlainValue, WireMessage, meta

FLIDS = st.integers(1, 5)
TIMES = "14MAR270100 14MAR270805 14MAR272330 15MAR270130 15MAR270900 16MAR270000".split()
DTTM = "20270314060000"

_SODT = st.sampled_from([None, *TIMES, *TIMES[:3], "", "14MAR2725"])
_MAID = st.sampled_from([None, None, None, 1, 1, 2, 9])
_TAGS = strategies.plain_tags(among=[tag for tag in MODEL_TAGS if tag not in ("SODT", "MAID")], max_tags=2)


def plain(flid: int, sodt: str | None = None, maid: int | None = None, **tags: PlainValue) -> PlainRecord:
    """A record with its plan and its main flight, where they are given, and some tags."""
    head: dict[str, PlainValue] = {"FLID": str(flid)}
    if sodt is not None:
        head["SODT"] = sodt
    if maid is not None:
        head["MAID"] = str(maid)
    return {**head, **tags}


def _record(flid: int, sodt: str | None, maid: int | None, tags: Mapping[str, PlainValue]) -> PlainRecord:
    return plain(flid, sodt, maid, **tags)


_RECORDS = st.builds(_record, FLIDS, _SODT, _MAID, _TAGS)
_PACKAGES = st.lists(_RECORDS, max_size=4, unique_by=lambda record: str(record["FLID"])).map(tuple)


def schedule(styp: str, *records: PlainRecord, dttm: str = DTTM) -> WireMessage:
    """A package of these records."""
    return WireMessage(MsgKind.SCHEDULE, meta("SCHD", styp, dttm=dttm), str(len(records)), records)


def miscounted(styp: str, *records: PlainRecord) -> WireMessage:
    """A package that says it has one more."""
    sent, n = schedule(styp, *records), len(records)
    fault = Fault("recs-mismatch", "PROTOCOL", f"recs-mismatch:{n + 1}!={n}")
    return evolve(sent, recs=str(n + 1), fault=fault)


def adft(record: PlainRecord) -> WireMessage:
    """One extra flight."""
    return WireMessage(MsgKind.ADFT, meta("SCHD", "ADFT", dttm=DTTM), None, (record,))


def flop(flid: int, styp: str, value: PlainValue) -> WireMessage:
    """One change of one flight."""
    content = {"FLID": str(flid), styp: value}
    return WireMessage(MsgKind.FLOP, meta("FLOP", styp, dttm=DTTM), flights=(content,))


def fdel(flid: int) -> WireMessage:
    """A deletion."""
    return WireMessage(
        MsgKind.FDEL, meta("FLOP", "FDEL", dttm=DTTM), flights=({"FLID": str(flid), "FDEL": ""},)
    )


def eror(**answer: str) -> WireMessage:
    """Upstream refuses a request."""
    return WireMessage(MsgKind.ERROR_ANSWER, meta("EROR", "NONE", dttm=DTTM), answer=answer)


def unsupported() -> WireMessage:
    """A season schedule: kept and passed over."""
    return WireMessage(MsgKind.UNSUPPORTED, meta("SCHS", "DNLD", dttm=DTTM), "0")


_ANSWERS: tuple[dict[str, str], ...] = (
    *({}, {"ETYP": "RQFD"}, {"ETYP": "SCHD", "ESTP": "RESP"}, {"ETYP": "RQRD", "ESTP": "GLST"}),
    *({"ESTP": "RSTA"}, {"ERCD": "7", "ERTX": "no such day"}),
)

DOWNLOADS = _PACKAGES.map(lambda records: schedule("DNLD", *records))
ANSWERS = _PACKAGES.map(lambda records: schedule("RESP", *records))
FLIGHTS = st.one_of(
    DOWNLOADS,
    DOWNLOADS,
    ANSWERS,
    _RECORDS.map(adft),
    strategies.flops("baseline", flids=FLIDS, noise=False),
    strategies.flops("extended", flids=FLIDS),
    FLIDS.map(fdel),
)
OTHERS = st.one_of(
    strategies.references(["GLST", "ARPT"], keys=st.sampled_from(["A", "B", "C"]), max_records=2),
    strategies.references(max_records=2),
    strategies.resource_statuses(),
    st.sampled_from(_ANSWERS).map(lambda answer: eror(**answer)),
    strategies.unsupported(),
)
BROKEN = strategies.broken(
    sorted({*FAULTS, *ODDITIES} - {"value-too-long", "key-too-long", "collection-overflow"})
)
ANYTHING = st.one_of(FLIGHTS, FLIGHTS, OTHERS, BROKEN)
