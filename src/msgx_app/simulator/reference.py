"""The thirteen reference lists, their changes during the day, and resource status (`RSTA`)."""

from __future__ import annotations

import random
from collections.abc import Iterable

from msgx_app.simulator import tables
from msgx_app.simulator.airport import Resource, Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.markup import Tag, record
from msgx_app.simulator.world import Event

Records = tuple[Tag, ...]
_STATUS_PAIRS_PER_DAY = 6


def reference_lists(site: Site) -> dict[str, Records]:
    """All records of each category, in the order in which they are sent."""
    return {
        "COUL": tuple(_country(c) for c in tables.COUNTRIES),
        "ARPT": tuple(_airport(a) for a in _airports(site)),
        "AIRL": tuple(_airline(site, a) for a in tables.AIRLINES),
        "AIRC": tuple(_type(t) for t in tables.AIRCRAFT_TYPES),
        "REGN": tuple(registration(r.number, r.airline, r.type) for r in site.fleet),
        "ORGN": tuple(_organisation(*row) for row in tables.AGENTS),
        "FLTL": tuple(
            record("FLTL", ("FTYP", c), ("FTNM", n), ("FTMC", z)) for c, n, z in tables.FLIGHT_TYPES
        ),
        "TLST": (_terminal("T1", "国内航站楼", "D"), _terminal("T2", "国际航站楼 & 港澳台", "I")),
        "GLST": tuple(_gate(g) for g in site.gates),
        "SLST": tuple(stand_record(s.code, s.terminal) for s in site.stands),
        "CLST": tuple(_desk(d) for d in site.desks),
        "BLST": tuple(_belt(b) for b in site.belts),
        "CHLT": tuple(_chute(c) for c in site.chutes),
    }


def _airports(site: Site) -> Iterable[tables.Airport]:
    known = site.home in tables.AIRPORTS
    return tables.AIRPORTS if known else (site.home, *tables.AIRPORTS)


def _country(c: tables.Country) -> Tag:
    names = (("COUC", c.code), ("CONM", c.name), ("COMC", c.chinese))
    return record("COUL", *names, *(("REGC", region) for region in c.regions))


def _airport(a: tables.Airport) -> Tag:
    base = record("ARPT", ("ITCD", a.code), ("ICCD", a.icao), ("ANAM", a.name), ("ANMC", a.chinese))
    more = (
        Tag("ABBR", a.name[:4].strip(), attributes=(("CODE", "ABR1"),)),
        Tag("ABBR", a.chinese[:2], attributes=(("CODE", "ABR2"),)),
        Tag("COUC", a.country),
        Tag("BDIS", "" if a.block_min > 300 else str(a.block_min * 12)),
    )
    return Tag("ARPT", children=(*base.children, *more))


def _airline(site: Site, a: tables.Airline) -> Tag:
    home = a.country == site.home.country
    base = record("AIRL", ("ITOP", a.code), ("ICOP", a.icao), ("ALNM", a.name), ("ALMC", a.chinese))
    terminals = tuple(
        Tag("TRML", site.terminal(traffic), attributes=(("MVIN", move), ("FLIN", traffic)))
        for traffic in (("D", "I") if home else ("I",))
        for move in ("A", "D")
    )
    groups = tuple(Tag("OGRP", g) for g in (("APGS", "SKYH") if home else ("SKYH",)))
    return Tag("AIRL", children=(*base.children, Tag("COUC", a.country), *terminals, *groups, Tag("HOAG")))


def _type(t: tables.AircraftType) -> Tag:
    base = record("AIRC", ("ITAT", t.code), ("ICAT", t.icao), ("ACNM", t.name), ("ACMC", t.chinese))
    cabins = ("F", "Y") if t.wide else ("Y",)
    first = t.seats // 10 if t.wide else 0
    subs = tuple(
        record(
            "SUBC", ("CODE", cabin), ("SEAT", str(first if cabin == "F" else t.seats - first)), ("SDES", "")
        )
        for cabin in cabins
    )
    return Tag("AIRC", children=(*base.children, Tag("BODY", "W" if t.wide else "N"), *subs))


def registration(number: str, airline: str, kind: str) -> Tag:
    """A registration record; the weight is not known to everyone."""
    seats = next((t.seats for t in tables.AIRCRAFT_TYPES if t.code == kind), 0)
    pairs = (("RNUM", number), ("ITOP", airline), ("ITAT", kind), ("MAXP", str(seats)), ("MTOW", ""))
    return record("REGN", *pairs)


def _organisation(code: str, name: str, chinese: str, roles: tuple[str, ...]) -> Tag:
    return record(
        "ORGN", ("OGID", code), ("OGNM", name), ("OGMC", chinese), *(("OGRP", r) for r in roles), ("TELN", "")
    )


def _terminal(code: str, chinese: str, traffic: str) -> Tag:
    return record(
        "TLST", ("TCOD", code), ("TNAM", f"TERMINAL {code[1:]}"), ("TNMC", chinese), ("FLIN", traffic)
    )


def _gate(r: Resource) -> Tag:
    names = (("GCOD", r.code), ("GTNM", f"Gate {r.code}"), ("GNMC", f"{r.code}号登机口"))
    return record("GLST", *names, ("GTML", r.terminal), ("GCAT", r.traffic), ("BUSG", ""))


def stand_record(code: str, terminal: str) -> Tag:
    """A stand; those with an even number have two bridges."""
    bridges = (f"{code}A", f"{code}B") if int(code) % 2 == 0 else ()
    names = (("SCOD", code), ("SNAM", f"Stand {code}"), ("SNMC", f"{code}机位"), ("STML", terminal))
    return record("SLST", *names, *(("BRDG", b) for b in bridges), ("MAXW", ""))


def _desk(r: Resource) -> Tag:
    names = (("CCOD", r.code), ("CTNM", f"Desk {r.code}"), ("CNMC", f"{r.code}值机柜台"))
    return record("CLST", *names, ("CTML", r.terminal), ("CCAT", r.traffic))


def _belt(r: Resource) -> Tag:
    names = (("BCOD", r.code), ("BNAM", f"Belt {r.code}"), ("BNMC", f"{r.code}号转盘"))
    return record("BLST", *names, ("BTML", r.terminal), ("FLIN", r.traffic))


def _chute(r: Resource) -> Tag:
    names = (("CCOD", r.code), ("CHNM", f"Chute {r.code}"), ("CNMC", f"{r.code}滑槽"))
    return record("CHLT", *names, ("CTML", r.terminal), ("CCAT", r.traffic), ("REMK", ""))


def _list_event(at_s: float, kind: str, styp: str, records: Records) -> Event:
    return Event(at_s, lambda world, now_s: world.records(kind, styp, records, now_s))


def opening_events(site: Site, first_s: float, step_s: float) -> list[Event]:
    """The full lists, one after the other, then the status of all that is out of service."""
    lists = reference_lists(site)
    events = [_list_event(first_s + i * step_s, k, "DNLD", r) for i, (k, r) in enumerate(lists.items())]
    down = (("BELT", site.belts[3].code), ("CNTR", site.desks[7].code), ("GATE", site.gates[5].code))
    status = tuple(_status(kind, code, "D") for kind, code in down)
    return [*events, _list_event(first_s + len(lists) * step_s, "RSTA", "RESP", status)]


def change_events(site: Site, clock: Clock, rng: random.Random, last_s: float) -> list[Event]:
    """Single changes of the lists, an answer to a request of somebody, and resources going down and up."""
    lists = reference_lists(site)
    new = registration("B-99ZZ", site.fleet[0].airline, site.fleet[0].type)
    changes = [
        ("REGN", "ADD", new),
        ("REGN", "UPD", new.put("MTOW", "78500")),
        ("SLST", "ADD", stand_record("398", "T2")),
        ("SLST", "DEL", record("SLST", ("SCOD", "398"))),
        ("GLST", "UPD", lists["GLST"][2].put("GNMC", "")),
        ("CLST", "UPD", lists["CLST"][4].put("CTNM", "Desk <closed for works>")),
        ("ARPT", "ADD", record("ARPT", ("ITCD", "LUM"), ("ICCD", "ZPMS"), ("ANMC", "德宏芒市"))),
        ("AIRL", "UPD", lists["AIRL"][-1].put("HOAG", "SKYH")),
    ]
    times = sorted(rng.uniform(0.1 * last_s, 0.9 * last_s) for _ in changes)
    events = [_list_event(t, k, s, (r,)) for t, (k, s, r) in zip(times, changes, strict=True)]
    events.append(_list_event(rng.uniform(0.2 * last_s, 0.8 * last_s), "FLTL", "RESP", lists["FLTL"]))
    return events + _status_events(site, clock, rng, last_s)


def _status_events(site: Site, clock: Clock, rng: random.Random, last_s: float) -> list[Event]:
    kinds = (("GATE", site.gates), ("STND", site.stands), ("CNTR", site.desks), ("BELT", site.belts))
    events = []
    for i in range(_STATUS_PAIRS_PER_DAY):
        kind, resources = kinds[i % len(kinds)]
        code = rng.choice(resources).code
        down_s = rng.uniform(0.05 * last_s, 0.7 * last_s)
        minute = int(down_s // 60)
        window = (clock.wire(minute), clock.wire(minute + rng.randrange(30, 240, 10)))
        down = _status(kind, code, "D", window if i % 3 else (window[0], ""))
        events.append(_list_event(down_s, "RSTA", "DNLD", (down,)))
        if i % 2 == 0:
            up_s = down_s + rng.uniform(0.05 * last_s, 0.2 * last_s)
            events.append(_list_event(up_s, "RSTA", "DNLD", (_status(kind, code, "E"),)))
    return events


def _status(kind: str, code: str, status: str, window: tuple[str, str] = ("", "")) -> Tag:
    pairs = [(n, t) for n, t in zip(("STRT", "ENDT"), window, strict=True) if t]
    return record("RSTA", ("RTYP", kind), ("RSID", code), ("STAT", status), *pairs)
