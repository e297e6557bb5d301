"""Statements and values on the way to libpq."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from msgx_adapters.store_postgres import schema_sql
from msgx_adapters.store_postgres.statement import in_schema, statement, statements
from msgx_adapters.store_postgres.values import DECODERS, Texts, encoded
from msgx_core.errors import Rejected


def test_names_become_numbers() -> None:
    made = statement("x", "SELECT :b, :a::bigint[], :b, 'KAFKA:msg', '12:30' FROM msgx.T")
    assert made.sql == b"SELECT $1, $2::bigint[], $1, 'KAFKA:msg', '12:30' FROM msgx.T"
    assert made.parameters == ("b", "a")


def test_the_name_at_the_server_tells_the_text() -> None:
    """Behind a pooler it may meet what another program has prepared."""
    assert statement("x", "SELECT 1").unique_name == statement("y", "SELECT 1").unique_name
    assert statement("x", "SELECT 1").unique_name != statement("x", "SELECT 2").unique_name


def test_everything_is_in_the_schema() -> None:
    assert in_schema("SELECT msgx.F() FROM msgx.T", "kmg") == 'SELECT "kmg".F() FROM "kmg".T'
    assert "msgx." not in schema_sql("kmg")
    assert all(b"msgx." not in made.sql for made in statements("kmg").values())


def test_the_script_has_no_place_left() -> None:
    assert "{{" not in schema_sql()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (7, b"7"),
        (True, b"t"),
        (0.5, b"0.5"),
        ("贵", "贵".encode()),
        (date(2027, 3, 14), b"2027-03-14"),
        (datetime(2027, 3, 14, 6, tzinfo=UTC), b"2027-03-14T06:00:00+00:00"),
        (datetime(2027, 3, 14, 6, tzinfo=timezone(timedelta(hours=8))), b"2027-03-14T06:00:00+08:00"),
        ([1, 2], b"{1,2}"),
        ([], b"{}"),
        ([None, datetime(2027, 3, 14, 6, tzinfo=UTC)], b"{NULL,2027-03-14T06:00:00+00:00}"),
        ([date(2027, 3, 14)], b"{2027-03-14}"),
    ],
)
def test_parameters(value: Any, text: bytes | None) -> None:
    assert encoded(value) == (text, 0)


@pytest.mark.parametrize("value", ["a\0b", "\ud800", Texts(["\ud800"])])
def test_text_that_cannot_be_sent_is_refused(value: Any) -> None:
    """A fault of that row (D-04); libpq would cut the first one off."""
    with pytest.raises(Rejected):
        encoded(value)


def test_a_time_without_a_zone_is_a_bug() -> None:
    with pytest.raises(ValueError, match="zone"):
        encoded(datetime(2027, 3, 14))


def test_instants_before_and_after_2000() -> None:
    read = DECODERS[1184]
    assert read((0).to_bytes(8)) == datetime(2000, 1, 1, tzinfo=UTC)
    assert read((-1).to_bytes(8, signed=True)) == datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert DECODERS[1082]((-1).to_bytes(4, signed=True)) == date(1999, 12, 31)
