"""The tag tables say what the texts say."""

from msgx_core.model.sis import (
    CATEGORIES,
    COLLECTIONS,
    FLOP_ROWS,
    MODEL_TAGS,
    RAW_SECTIONS,
    RSTA_STATUSES,
    RSTA_TYPES,
    SCALARS,
    SINGLES,
    Kind,
)

IMP_SCALARS = {
    *"ALCD ALSC FLNO MVIN SODT FLTY FLIN ACFT RENO".split(),
    *"TAOP TAFL TAID TRML CSOP CSFT MAID".split(),
    *"ESTT ACTT BOTM LACL FINT APPT EGSR EGST PADT NAAT NEAT PEDT FTSS".split(),
    *"STND PHAG FHAG MHAG CNCL REMC MAXP VIPP VIPR LBNO LBWT PAXC EXSC EXSR".split(),
}
IMP_COLLECTIONS = {
    "GTDT": "GTNO GATE PGOT PGCT GOTM GCTM GTYP",
    "CKDT": "CKNO CHKC CCLS PCOT PCCT COTM CCTM CTYP",
    "CLDT": "CLNO BELT BCLS PCOT PCCT FBAG LBAG BTYP",
    "CHDT": "CHNO CHUT CCLS PCBT PCET CBTM CETM CTYP",
    "PSDT": "PSNO PSST STST STET",
    "CHOT": "CSNO CHTM CHID CHST",
    "DELY": "CODE STRT DURA",
    "ABTM": "ASNO ABDG ABOP AOTM",
    "ROUT": "RTNO APCD",
    "ERUT": "RTNO APCD",
}


def test_the_scalars() -> None:
    """R-255 to R-258, D-18: all of IMP, and `BDPB`, a scalar of unknown shape."""
    assert set(SCALARS) == IMP_SCALARS | {"BDPB"}


def test_the_collections() -> None:
    """R-260 to R-269: attribute first; `CHDT` has `CCLS`/`CTYP`; `SCAT`/`SCDT` are not kept (D-19)."""
    found = {
        tag: " ".join([*filter(None, [spec.sequence]), *spec.attributes, *spec.keys])
        for tag, spec in COLLECTIONS.items()
    }
    assert found == IMP_COLLECTIONS


def test_kinds() -> None:
    """wire: whole numbers, one decimal, three FLIDs in all; `FTSS` and `PADT` are no times."""
    by_kind = {kind: {tag for tag, row in SCALARS.items() if row.kind is kind} for kind in Kind}
    assert by_kind[Kind.INTEGER] == {"MAXP", "VIPP", "VIPR", "LBNO", "PAXC"}
    assert by_kind[Kind.DECIMAL] == {"LBWT"}
    assert by_kind[Kind.FLID] == {"TAID", "MAID"}
    assert by_kind[Kind.TIME] == set("SODT ESTT ACTT BOTM LACL FINT APPT EGSR EGST NAAT NEAT PEDT".split())
    assert dict(COLLECTIONS["DELY"].attributes) == {
        "CODE": Kind.TEXT,
        "STRT": Kind.TIME,
        "DURA": Kind.DURATION,
    }


def test_no_tag_is_in_two_tables() -> None:
    """architecture (Tables as data): one home each; `MAFL` is derived and never read (R-303)."""
    assert len(MODEL_TAGS) == len(set(MODEL_TAGS)) == len(SCALARS) + len(SINGLES) + len(COLLECTIONS)
    assert {"MAFL", "FLID", "FFID", *RAW_SECTIONS}.isdisjoint(MODEL_TAGS)


def test_every_flop_row_names_model_tags() -> None:
    """D-18: and never the day, the main flight, the flight itself (R-213)."""
    tags = {tag for row in FLOP_ROWS.values() for tag in row.tags}
    assert tags <= set(MODEL_TAGS)
    assert tags.isdisjoint({"SODT", "MAID", "FLNO", "MVIN"})
    assert all(styp == row.styp for styp, row in FLOP_ROWS.items())


def test_the_categories_and_their_keys() -> None:
    """R-413, R-414: thirteen, in the order of the sections; `RSTA` is not one of them."""
    keys = "COUC ITCD ITOP ITAT RNUM OGID FTYP TCOD GCOD SCOD CCOD BCOD CCOD".split()
    codes = "COUL ARPT AIRL AIRC REGN ORGN FLTL TLST GLST SLST CLST BLST CHLT".split()
    assert {code: row.key for code, row in CATEGORIES.items()} == dict(zip(codes, keys, strict=True))
    assert [row.section for row in CATEGORIES.values()] == [f"SIS:3.{n}" for n in range(1, 14)]


def test_resource_types_and_statuses() -> None:
    """R-427."""
    assert {"BELT", "CNTR", "GATE", "STND"} == RSTA_TYPES
    assert {"E", "D"} == RSTA_STATUSES
