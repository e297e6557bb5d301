"""`msgx ref` and `msgx resources`: reference data, and what is available at a time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from msgx_app.answers.documents import category_of, reference_row, resource_rows
from msgx_app.cli import output, times
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import with_store
from msgx_app.refusals import BadValue
from msgx_core.model.reference import RefRecord
from msgx_core.model.sis import RSTA
from msgx_core.rules.render import node_document

_SHORT = 100


@command("msgx ref ARPT", "msgx ref ARPT HKG --json")
def ref(
    rtype: Annotated[str, typer.Argument(metavar="RTYPE", help="A category such as ARPT, or RSTA.")],
    common: Common,
    *,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="One record's key.")] = None,
) -> None:
    """Reference data of a category by key; each record whole, as it was sent."""
    try:
        category = category_of(rtype)
    except BadValue as error:
        raise typer.BadParameter(str(error), param_hint="RTYPE") from error
    with with_store(common) as at:
        records = at.store.references(category, key)
    if key is not None and not records:
        raise Negative(f"{category} has no record {key}")
    if common.as_json:
        output.print_json_array(map(reference_row, records))
    elif key is not None:
        for record in records:
            _print_record(record)
    else:
        rows = (
            {
                "RKEY": record.rkey,
                "RECORD": _summary(record),
                "MSG_ID": record.msg_id,
                "UPDATED_AT": record.updated_at,
            }
            for record in records
        )
        columns = ("RKEY", "RECORD", "MSG_ID", "UPDATED_AT")
        output.print_rows(rows, columns, empty=f"no records of {category}")


def _print_record(record: RefRecord) -> None:
    facts: list[tuple[str, Any]] = [
        (node.tag, node_document(node)) for node in record.node.children if node.text or node.children
    ]
    about = [("MSG_ID", record.msg_id), ("UPDATED_AT", record.updated_at)]
    output.print_facts([*facts, *about], title=f"{record.rtype} {record.rkey}")


def _summary(record: RefRecord) -> str:
    parts = [f"{node.tag} {node.text}" for node in record.node.children if node.text]
    text = "  ".join(parts)
    return text if len(text) <= _SHORT or not output.on_terminal() else f"{text[:_SHORT]}…"


@command("msgx resources", "msgx resources --at 2027-03-14T06:00")
def resources(
    common: Common,
    *,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="2027-03-14T06:00 or 14MAR270600; default: now."),
    ] = None,
) -> None:
    """Gates, stands, desks and belts with a stored status; all others are available."""
    with with_store(common) as parts:
        now = parts.clock.now()
        instant = now if at is None else times.parse_instant(at, parts.policy, now, "--at")
        rows = resource_rows(parts.store.references(RSTA), parts.policy, instant)
    if common.as_json:
        output.print_json_array(rows)
    else:
        columns = ("RTYP", "RSID", "AVAILABLE", "STAT", "STARTS_AT", "ENDS_AT", "MSG_ID")
        empty = "no resource has a stored status: all are available"
        output.print_rows(rows, columns, empty=empty, title=f"at {output.people(instant)}")
