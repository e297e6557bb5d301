"""Faults of schedules, ADFT, `FLOP` and `FDEL` (D-12, D-14, D-17, D-18, D-19)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

from hypothesis import strategies as st

from msgx_core.model.schedule import Days
from msgx_core.model.sis import COLLECTIONS, FLOP_ROWS, MAX_VALUE_CHARS, SCALARS, Kind, OnEmpty
from msgx_core.testing.strategies.breaking import Breakage, malformed, odd, only, protocol, with_first
from msgx_core.testing.strategies.legal import adfts, fdels, flops, schedules
from msgx_core.testing.strategies.texts import ILLEGAL
from msgx_core.testing.wire import WireMessage, empty_element

Broken = st.SearchStrategy[WireMessage]

DAYS = Days(frozenset({date(2027, 3, 14), date(2027, 3, 15)}))
"""What the schedules cover that `BROKEN_UNDER_DAYS` breaks."""

_LIMITED = sorted(tag for tag, spec in COLLECTIONS.items() if spec.limit is not None)
_CUT = sorted(tag for tag, spec in COLLECTIONS.items() if spec.truncated)
_REASONS = {Kind.TIME: "bad-time", Kind.INTEGER: "bad-number", Kind.DECIMAL: "bad-number"}
_CHECKED = sorted(t for t, row in SCALARS.items() if row.kind in ILLEGAL)
_NO_FLIDS = st.sampled_from(["", "0", "A7", "-7", "7.0", "1234567890123"])


def _packages() -> Broken:
    return schedules().filter(lambda sent: bool(sent.flights))


def _covered() -> Broken:
    return schedules(DAYS).filter(lambda sent: bool(sent.flights))


def _single() -> Broken:
    return st.one_of(flops("all"), fdels())


def _must_have() -> Broken:
    return flops([row.styp for row in FLOP_ROWS.values() if row.on_empty is OnEmpty.MALFORMED])


def _checked() -> Broken:
    return flops([s for s, row in FLOP_ROWS.items() if row.tags == (s,) and s in SCALARS and s in _CHECKED])


def _recs_missing(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return protocol(sent, "recs-missing", recs=draw(st.sampled_from([None, "", "  "])))


def _recs_range(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    text = draw(st.sampled_from(["-1", "10000", "ten", "1.0", "٣"]))
    return protocol(sent, f"recs-range:{text}", recs=text)


def _recs_mismatch(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    held = len(sent.flights)
    said = draw(st.integers(0, 9999).filter(lambda n: n != held))
    return protocol(sent, f"recs-mismatch:{said}!={held}", recs=str(said))


def _flid_invalid(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    text = draw(_NO_FLIDS)
    return protocol(with_first(sent, FLID=text), f"flid-invalid:{text}")


def _repeated_record(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Compared by value: 7 and 0007 are one flight."""
    flid = str(int(str(sent.flights[0]["FLID"])))
    again = {**sent.flights[0], "FLID": draw(st.sampled_from([flid, flid.zfill(12)]))}
    flights = (*sent.flights, again)
    return protocol(sent, f"duplicate-flid:{flid}", flights=flights, recs=str(len(flights)))


def _overflow(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    tag = draw(st.sampled_from(_LIMITED))
    full = [_element(tag)] * ((COLLECTIONS[tag].limit or 0) + 1)
    return protocol(only(sent, **{tag: full}), f"collection-overflow:{tag}")


def _mixed(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    tag = draw(st.sampled_from(sorted(COLLECTIONS)))
    both = draw(st.permutations([empty_element(tag), _element(tag)]))
    return protocol(only(sent, **{tag: both}), f"collection-mixed:{tag}")


def _too_long(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return protocol(only(sent, REMC="备" * (MAX_VALUE_CHARS + 1)), "value-too-long:REMC")


def _element(tag: str) -> dict[str, str]:
    spec = COLLECTIONS[tag]
    kind = {**spec.attributes, **spec.keys}[spec.first_key]
    return {spec.first_key: "14MAR271200" if kind is Kind.TIME else "B1"}


def _no_body(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return malformed(sent, f"payload-missing:{sent.type}", body="")


def _adft_records(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    n = draw(st.sampled_from([0, 2, 3]))
    return protocol(sent, f"adft-records:{n}", flights=sent.flights * n, recs=str(n))


def _bad_flid(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    text = draw(_NO_FLIDS)
    return malformed(with_first(sent, FLID=text), f"flid-invalid:{text}")


def _no_payload(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return malformed(only(sent, XTRA="1"), f"payload-missing:{sent.styp}")


def _empty_mandatory(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    return malformed(with_first(sent, **{sent.styp: ""}), f"payload-empty:{sent.styp}")


def _bad_value(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    kind = SCALARS[sent.styp].kind
    spoilt = with_first(sent, **{sent.styp: draw(ILLEGAL[kind])})
    return malformed(spoilt, f"{_REASONS[kind]}:{sent.styp}")


def _sodt_missing(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    record = {tag: value for tag, value in sent.flights[0].items() if tag != "SODT"}
    blank = {"SODT": ""} if draw(st.booleans()) else {}
    flights = ({**record, **blank}, *sent.flights[1:])
    return protocol(sent, f"sodt-missing:{int(str(record['FLID']))}", flights=flights)


def _sodt_bad(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    spoilt = with_first(sent, SODT=draw(ILLEGAL[Kind.TIME]))
    return protocol(spoilt, f"bad-time:SODT:{int(str(sent.flights[0]['FLID']))}")


def _out_of_scope(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    text = draw(st.sampled_from(["13MAR272359", "16MAR270000", "14MAR280000"]))
    return protocol(with_first(sent, SODT=text), f"out-of-scope:{int(str(sent.flights[0]['FLID']))}")


def _bad_optional(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Taken as absent, with an alert: it does not cost the airport its schedule (D-14)."""
    tag = draw(st.sampled_from(_CHECKED))
    return odd(with_first(sent, **{tag: draw(ILLEGAL[SCALARS[tag].kind])}))


def _long_route(draw: st.DrawFn, sent: WireMessage) -> WireMessage:
    """Six or seven points are legal, the first four are kept (D-19)."""
    tag = draw(st.sampled_from(_CUT))
    points = [{"APCD": f"A{n}"} for n in range(COLLECTIONS[tag].limit or 0)]
    return odd(with_first(sent, **{tag: points}))


BROKEN_FLIGHTS: Mapping[str, Breakage] = MappingProxyType(
    {
        "recs-missing": Breakage(schedules, _recs_missing),
        "recs-range": Breakage(schedules, _recs_range),
        "recs-mismatch": Breakage(schedules, _recs_mismatch),
        "flid-invalid": Breakage(_packages, _flid_invalid),
        "repeated-record": Breakage(_packages, _repeated_record),
        "collection-overflow": Breakage(_packages, _overflow),
        "collection-mixed": Breakage(_packages, _mixed),
        "value-too-long": Breakage(_packages, _too_long),
        "no-schedule": Breakage(lambda: st.one_of(schedules(), adfts()), _no_body),
        "adft-records": Breakage(adfts, _adft_records),
        "adft-flid": Breakage(adfts, _bad_flid),
        "no-flop": Breakage(_single, _no_body),
        "flop-flid": Breakage(_single, _bad_flid),
        "no-payload": Breakage(_single, _no_payload),
        "empty-mandatory": Breakage(_must_have, _empty_mandatory),
        "bad-value": Breakage(_checked, _bad_value),
    }
)
BROKEN_UNDER_DAYS: Mapping[str, Breakage] = MappingProxyType(
    {
        "sodt-missing": Breakage(_covered, _sodt_missing),
        "sodt-bad": Breakage(_covered, _sodt_bad),
        "out-of-scope": Breakage(_covered, _out_of_scope),
    }
)
"""Answers that are broken because whole days are covered (`DAYS`): they need the request that they answer."""

ODD_FLIGHTS: Mapping[str, Breakage] = MappingProxyType(
    {
        "bad-optional-value": Breakage(lambda: st.one_of(_packages(), adfts()), _bad_optional),
        "long-route": Breakage(_packages, _long_route),
    }
)
