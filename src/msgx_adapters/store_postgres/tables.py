"""The parts of the schema that follow the SIS tag tables: columns, detail tables, reference tables.

What is made here fills the `{{places}}` of the files in `ddl/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

from attrs import frozen

from msgx_adapters.store_sql.statements import parse
from msgx_core.model.sis import CATEGORIES, COLLECTIONS, MODEL_TAGS, RSTA, SCALARS, SINGLES, Collection, Kind

TEXT = "TEXT"
"""Key and column of an element's own text."""

_TABLES = {
    "GTDT": "FLIGHT_GATE",
    "CKDT": "FLIGHT_CHECKIN",
    "CLDT": "FLIGHT_BELT",
    "CHDT": "FLIGHT_CHUTE",
    "PSDT": "FLIGHT_STAND",
    "CHOT": "FLIGHT_CHOCK",
    "DELY": "FLIGHT_DELAY",
    "ABTM": "FLIGHT_BRIDGE",
    "ROUT": "FLIGHT_ROUTE_POINT",
    "ERUT": "FLIGHT_ROUTE_POINT",
}
_WITH_KIND = "FLIGHT_ROUTE_POINT"

PIECES = parse(files(__package__).joinpath("ddl", "templates.sql").read_text(encoding="utf-8"))


@frozen
class Detail:
    """Where a collection is kept: its table and, by element key, the columns."""

    tag: str
    table: str
    columns: Mapping[str, str]

    @classmethod
    def of(cls, row: Collection) -> Detail:
        """The upstream's own number is in `SOURCE_SEQ`, every other key in the column of its name."""
        columns = {row.sequence: "SOURCE_SEQ"} if row.sequence else {}
        columns |= {key: key for key in (*row.attributes, *row.keys, TEXT)}
        return cls(row.tag, _TABLES[row.tag], columns)

    @property
    def has_kind(self) -> bool:
        """Whether the table holds another collection too, told apart by `ROUTE_KIND`."""
        return self.table == _WITH_KIND

    def piece(self, name: str) -> str:
        """A template about this collection."""
        names = list(self.columns.values())
        return PIECES[name].format(
            tag=self.tag,
            table=self.table,
            kind_column="\n    ROUTE_KIND text COLLATE \"C\" NOT NULL CHECK (ROUTE_KIND IN ('ROUT', 'ERUT')),"
            * self.has_kind,
            kind_key="ROUTE_KIND, " * self.has_kind,
            kind_value=f"'{self.tag}', " * self.has_kind,
            kind_or_null="D.ROUTE_KIND" if self.has_kind else "NULL::text",
            and_kind=f" AND D.ROUTE_KIND = '{self.tag}'" * self.has_kind,
            and_kind_unindexed=f" AND D.ROUTE_KIND || '' = '{self.tag}'" * self.has_kind,
            columns="\n".join(f"    {name} text," for name in names if name != "SOURCE_SEQ"),
            names=", ".join(names),
            values=", ".join(f'E."{key}"' for key in self.columns),
            keys=", ".join(f'"{key}"' for key in self.columns),
            typed_keys=", ".join(f'"{key}" text' for key in self.columns),
            pairs=", ".join(f"'{key}', D.{name}" for key, name in self.columns.items()),
            stored=", ".join(f"D.{name}" for name in names),
            excluded=", ".join(f"EXCLUDED.{name}" for name in names),
        )


DETAILS: Mapping[str, Detail] = {tag: Detail.of(row) for tag, row in COLLECTIONS.items()}


def single_columns(tag: str) -> Mapping[str, str]:
    """Columns of a single-value element by key: `FDIV_DDES`, …, `FDIV_TEXT`."""
    return {key: f"{tag}_{key}" for key in (*SINGLES[tag].attributes, TEXT)}


def scalar_type(tag: str) -> str:
    """SQL type of a scalar: text as it was sent, a number for FLIDs."""
    return "bigint" if SCALARS[tag].kind is Kind.FLID else "text"


def flight_columns() -> Mapping[str, str]:
    """Columns of `FLIGHT_SCHD` that follow the tag tables, with their types, in table order."""
    columns = {tag: scalar_type(tag) for tag in SCALARS}
    for tag in SINGLES:
        columns |= dict.fromkeys(single_columns(tag).values(), "text")
    return columns


def places() -> Mapping[str, str]:
    """Text for each place in the schema files."""
    columns = flight_columns()
    values = {tag: f'P."{tag}"' for tag in SCALARS}
    for tag in SINGLES:
        values |= {name: f"P.\"{tag}\" ->> '{key}'" for key, name in single_columns(tag).items()}
    types = {tag: scalar_type(tag) for tag in SCALARS} | dict.fromkeys(SINGLES, "jsonb")
    details = DETAILS.values()
    return {
        "flight_columns": ",\n".join(f"    {name} {kind}" for name, kind in columns.items()),
        "flight_fields": ",\n".join(_field(tag) for tag in MODEL_TAGS),
        "scalar_names": ", ".join(columns),
        "scalar_values": ", ".join(values.values()),
        "scalar_sets": ", ".join(f"{name} = {value}" for name, value in values.items()),
        "scalar_types": ", ".join(f'"{tag}" {kind}' for tag, kind in types.items()),
        "detail_tables": _once(detail.piece("detail_table") + ";" for detail in details),
        "detail_insert": "\n".join(f"    {detail.piece('detail_insert')};" for detail in details),
        "detail_replace": "\n".join(f"    {detail.piece('detail_replace')};" for detail in details),
        "detail_clear": _once(f"    {detail.piece('detail_clear')};" for detail in details),
        "reference_tables": "\n\n".join(_reference_table(rtype) + ";" for rtype in (*CATEGORIES, RSTA)),
        "reference_view": "\nUNION ALL ".join(
            PIECES["reference_part"].format(rtype=rtype) for rtype in (*CATEGORIES, RSTA)
        ),
    }


def strays_sql() -> Iterator[tuple[str, str]]:
    """For each detail table a query for its rows that are out of place."""
    for detail in {detail.table: detail for detail in DETAILS.values()}.values():
        yield detail.table, detail.piece("detail_strays")


def _field(tag: str) -> str:
    if tag in SCALARS:
        return f'        F.{tag} AS "{tag}"'
    if tag in DETAILS:
        return "        " + DETAILS[tag].piece("detail_fields")
    columns = single_columns(tag)
    names = ", ".join(f"F.{name}" for name in columns.values())
    pairs = ", ".join(f"'{key}', F.{name}" for key, name in columns.items())
    return f'        CASE WHEN num_nonnulls({names}) > 0 THEN json_build_object({pairs}) END AS "{tag}"'


def _reference_table(rtype: str) -> str:
    extra = "\n    " + PIECES["reference_status"] if rtype == RSTA else ""
    return PIECES["reference_table"].format(rtype=rtype, extra=extra)


def _once(pieces: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(pieces))
