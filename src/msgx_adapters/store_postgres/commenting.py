"""Comments on what follows the tag tables: a column says which tag it holds and how its text looks."""

from __future__ import annotations

from collections.abc import Iterator

from msgx_adapters.store_postgres.tables import DETAILS, PIECES, TEXT, Detail, single_columns
from msgx_core.model.sis import CATEGORIES, COLLECTIONS, RSTA, SCALARS, SINGLES, Kind

_LOOKS = {
    Kind.TEXT: "text",
    Kind.TIME: "airport local time DDMMMYYHHMM",
    Kind.DURATION: "duration HHMM",
    Kind.INTEGER: "whole number as text",
    Kind.DECIMAL: "decimal number as text",
    Kind.FLID: "number of a flight",
}
_STATUS_COLUMNS = {"RTYP": "Kind of the resource, from RKEY.", "RSID": "Name of the resource, from RKEY."}


def tag_comments() -> str:
    """`COMMENT ON` for all columns and tables that `tables` makes."""
    return "".join(f"{piece};\n" for piece in (*_flights(), *_details(), *_references()))


def _flights() -> Iterator[str]:
    for tag, scalar in SCALARS.items():
        yield _column("FLIGHT_SCHD", tag, f"SIS tag {tag} ({scalar.group}): {_LOOKS[scalar.kind]}.")
    for tag in SINGLES:
        for key, column in single_columns(tag).items():
            what = "own text" if key == TEXT else f"attribute {key}"
            yield _column("FLIGHT_SCHD", column, f"SIS element {tag}, {what}.")


def _details() -> Iterator[str]:
    tables: dict[str, list[Detail]] = {}
    for detail in DETAILS.values():
        tables.setdefault(detail.table, []).append(detail)
    for table, details in tables.items():
        tags = " and ".join(detail.tag for detail in details)
        row = COLLECTIONS[details[0].tag]
        sequence = f" ({row.sequence})" if row.sequence else ""
        title = f"SIS collection {tags}: one row per element, in order."
        yield PIECES["detail_comments"].format(table=table, title=title, sequence=sequence)
        if details[0].has_kind:
            yield PIECES["kind_comment"].format(table=table)
        for key, kind in {**row.attributes, **row.keys}.items():
            yield _column(table, key, f"{key}: {_LOOKS[kind]}.")
        yield _column(table, TEXT, "Own text of the element.")


def _references() -> Iterator[str]:
    for rtype, category in CATEGORIES.items():
        yield PIECES["reference_comments"].format(rtype=rtype, meaning=category.meaning, key=category.key)
    yield PIECES["reference_comments"].format(rtype=RSTA, meaning="resource status", key="RTYP/RSID")
    for column, text in _STATUS_COLUMNS.items():
        yield _column(f"REF_{RSTA}", column, text)


def _column(table: str, column: str, text: str) -> str:
    return PIECES["column_comment"].format(table=table, column=column, text=text)
