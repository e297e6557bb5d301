"""`msgx flights`: the board, one flight's full state, and its versions with the message behind each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from msgx_app.answers.documents import document
from msgx_app.cli import output, times
from msgx_app.cli.app import new_app
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import After, Common, Limit, command, lists
from msgx_app.cli.parts import WithStore, with_store
from msgx_core.model.flight import FlightState, FlightStatus
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document
from msgx_core.rules.values import parse_flid

app = new_app()

BOARD = "FLID FLNO MVIN OPERATION_DAY SODT ESTT ACTT STND GATE BELT CNCL STATE STATE_VERSION".split()
VERSIONS = "STATE_VERSION KIND CHANGED REASON MSG_ID TYPE STYP UPDATED_AT EVENT_ID SOURCE VALUES".split()


@app.callback(invoke_without_command=True)
@command("msgx flights --day 2027-03-14", "msgx flights show 700101 --history", "msgx flights --json")
def flights(
    context: typer.Context,
    common: Common,
    *,
    day: Annotated[
        str | None, typer.Option(metavar="DAY", help="Operation day: YYYY-MM-DD or today.")
    ] = None,
    state: Annotated[str | None, typer.Option(help="ACTIVE or DELETED; default: both.")] = None,
    limit: Limit = None,
    after: After = None,
) -> None:
    """The flight board, by FLID; or one flight."""
    if not lists(context):
        return
    if state is not None and state.upper() not in FlightStatus.__members__:
        raise typer.BadParameter(
            f"{state!r}: one of {', '.join(FlightStatus.__members__)}", param_hint="--state"
        )
    with with_store(common) as at:
        wanted_day = None if day is None else times.parse_day(day, at.policy, at.clock.now(), "--day")
        wanted_state = None if state is None else state.upper()

        def fetch(behind: int | None, n: int) -> list[FlightState]:
            return list(at.store.flights(wanted_day, wanted_state, behind or 0, n))

        found = output.First(
            output.paged(fetch, lambda flight: int(flight.flid), after),
            output.wanted(limit, as_json=common.as_json),
            lambda flight: f"--after {flight.flid}",
        )
        if common.as_json:
            output.print_json_array(document(flight, at.policy) for flight in found)
        else:
            output.print_rows((_board_row(flight, at.policy) for flight in found), BOARD, empty="no flights")
        found.tell()


@app.command("show")
@command("msgx flights show 700101", "msgx flights show 700101 --history --json")
def show(
    flid: Annotated[str, typer.Argument(metavar="FLID", help="The flight's id.")],
    common: Common,
    *,
    history: Annotated[
        bool, typer.Option("--history", help="Its versions, each with the message behind it.")
    ] = False,
) -> None:
    """One flight's full state, deleted ones too; or its history, as far as outbox and archive remember.

    The history also of a flight that has left for the history store. SOURCE says where a version is known
    from: what the outbox has no more is computed again from all messages, which takes its time.
    """
    number = parse_flid(flid.strip())
    if number is None:
        raise typer.BadParameter(f"{flid!r}: 1 to 12 digits, not 0", param_hint="FLID")
    with with_store(common) as at:
        if history:
            _history(at, number, as_json=common.as_json)
            return
        state = at.store.flight(number)
        if state is None:
            from msgx_app.answers.histories import gone

            raise Negative(gone(at, number))
        if common.as_json:
            output.print_json(document(state, at.policy))
        else:
            _print_flight(document(state, at.policy))


def _board_row(state: FlightState, policy: Policy) -> dict[str, Any]:
    row = flight_document(state, policy)
    row["GATE"] = " ".join(gate.get("GATE", "?") for gate in row.get("GTDT", ()))
    row["BELT"] = " ".join(belt.get("BELT", "?") for belt in row.get("CLDT", ()))
    return row


def _history(at: WithStore, flid: int, *, as_json: bool) -> None:
    from msgx_app.answers.histories import versions
    from msgx_app.answers.texts import Texts

    with Texts(at) as texts:
        found = versions(at, texts, flid)
    if as_json:
        output.print_json_array(found.rows)
    else:
        told = [
            {**row, "VALUES": " ".join(map(_told, output.telling(row.get("VALUES", ()))))}
            for row in found.rows
        ]
        output.print_rows(told, VERSIONS, empty=f"no versions of flight {flid} are remembered any more")
    if found.note is not None:
        output.note(found.note)


def _told(change: Mapping[str, Any]) -> str:
    before, after = (output.people(change.get(name)) or "-" for name in ("BEFORE", "AFTER"))
    return f"{change['TAG']}: {before} → {after};"


def _print_flight(state: dict[str, Any]) -> None:
    facts: list[tuple[str, Any]] = []
    for tag, value in state.items():
        if not isinstance(value, list | tuple):
            facts.append((tag, value))
            continue
        for number, element in enumerate(value, start=1):
            text = "  ".join(f"{key} {output.people(each)}" for key, each in element.items())
            facts.append((f"{tag} {number}", text))
    output.print_facts(facts, title=f"flight {state['FLID']}")
