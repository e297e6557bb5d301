"""Dispatch by TYPE and STYP, and the place that an error names."""

import pytest

from msgx_core.errors import CodecError, ConfigError, Malformed, MsgxError, Protocol, Rejected, Transient
from msgx_core.model.message import MsgKind, Node, kind_of
from msgx_core.model.sis import CATEGORIES, FLOP_ROWS

UNSUPPORTED = [
    "SCHS",
    "CITY",
    "REGL",
    "PLST",
    "ABDG",
    "ABNR",
    "DLYL",
    "HLTR",
    "STTS",
    "VIPL",
    "VIPS",
    "schd",
    "RQFD",
    "",
]


@pytest.mark.parametrize(
    ("type_", "styp", "kind"),
    [
        ("SCHD", "DNLD", MsgKind.SCHEDULE),
        ("SCHD", "RESP", MsgKind.SCHEDULE),
        ("SCHD", "ADFT", MsgKind.ADFT),
        ("FLOP", "FDEL", MsgKind.FDEL),
        ("RSTA", "DNLD", MsgKind.RESOURCE_STATUS),
        ("RSTA", "RESP", MsgKind.RESOURCE_STATUS),
        ("EROR", "ANY", MsgKind.ERROR_ANSWER),
        *(
            (c, s, MsgKind.REFERENCE)
            for c in sorted(CATEGORIES)
            for s in ("DNLD", "RESP", "ADD", "UPD", "DEL")
        ),
        *(("FLOP", styp, MsgKind.FLOP) for styp in [*sorted(FLOP_ROWS), "SRVT", "VIPF", "NEW"]),
    ],
)
def test_what_is_supported(type_: str, styp: str, kind: MsgKind) -> None:
    """R-051 to R-057, R-061, H-07: the whitelist of `FLOP` decides later (D-18)."""
    assert kind_of(type_, styp) is kind


@pytest.mark.parametrize(
    ("type_", "styp"),
    [
        *((t, "DNLD") for t in UNSUPPORTED),
        ("SCHD", "UPD"),
        ("SCHD", "dnld"),
        ("RSTA", "ADD"),
        ("GLST", "ADFT"),
    ],
)
def test_everything_else_is_unsupported(type_: str, styp: str) -> None:
    """D-22, H-07, R-058: unknown types, unknown sub-types of known types, other case."""
    assert kind_of(type_, styp) is MsgKind.UNSUPPORTED


def test_the_first_child_of_a_tag_gives_its_value() -> None:
    """D-40: an empty tag is not an absent one."""
    record = Node("X", children=(Node("A", ""), Node("B", "1"), Node("B", "2")))
    assert (record.value("A"), record.value("B"), record.value("C")) == ("", "1", None)


def test_an_error_says_where() -> None:
    """D-25: line, column, flight, tag; records count from one for people; unknown parts are left out."""
    error = Protocol("x", flid=7, tag="STND", text="y" * 200, record=0, line=3, column=9)
    assert error.detail == f"line 3, column 9, record 1, flight 7, tag STND, text {'y' * 80!r}"
    assert Malformed("raw-missing").detail is None


def test_errors_carry_their_code() -> None:
    """D-25: `MALFORMED` and `PROTOCOL` kill the message, the others do not."""
    assert (Malformed("x").code, Protocol("x").code) == ("MALFORMED", "PROTOCOL")
    others: list[MsgxError] = [
        CodecError("x"),
        Rejected("x"),
        Transient("store", "x"),
        ConfigError(["a", "b"]),
    ]
    assert [str(e) for e in others] == ["x", "x", "store does not answer: x", "a\nb"]
