"""`msgx request` and `msgx requests`: ask upstream, and what became of it."""

from __future__ import annotations

from typing import Annotated

import typer

from msgx_app.answers.documents import category_of, request_row
from msgx_app.answers.requests import asked, reference_request, schedule_request
from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.listing import print_list
from msgx_app.cli.options import Actor, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import WithStore, with_store
from msgx_app.refusals import BadValue
from msgx_core.model.request import Request

app = new_app()

COLUMNS = "REQUEST_ID SLOT ASKS_FOR STATE REASON SEQN CREATED_AT SENT_AT CLOSED_AT RESP_MSG_ID".split()


@app.callback(invoke_without_command=True)
@command(
    'msgx request schedule 2027-03-14 --reason "the push was late"',
    'msgx request ref GLST --reason "new gates"',
)
def request(context: typer.Context, common: Common, *, limit: Limit = None) -> None:
    """Ask the AODB for the schedule of whole days, or for one category of reference data.

    Without a subcommand: the requests so far, as `msgx requests` lists them.
    """
    if lists(context):
        _list(common, limit)


@app.command("schedule")
@command(
    'msgx request schedule 2027-03-14 --reason "the push was late"',
    'msgx request schedule 2027-03-14..2027-03-16 --reason "after the outage"',
)
def schedule(
    days: Annotated[
        str, typer.Argument(metavar="DAY[..DAY]", help="Operation days: 2027-03-14, today, or a range.")
    ],
    common: Common,
    *,
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", help="Also more than 31 days.")] = False,
    actor: Actor = None,
) -> None:
    """Ask for the daily schedule of operation days. The answer is taken as complete for each of them.

    A flight that is on a day's roster and not in the answer is marked deleted (D-11); an answer without
    records deletes the roster of every day asked for, so more than 31 days need --yes. An open schedule
    request is replaced; while that one is being answered, this is refused.
    """
    who = audit(actor, reason)
    with with_store(common) as at:
        made = asked(_schedule(days, at, yes=yes), at, who)
    _tell(common, made)


@app.command("ref")
@command('msgx request ref GLST --reason "a gate is missing"')
def ref(
    rtype: Annotated[str, typer.Argument(metavar="RTYPE", help="A category such as GLST, or RSTA.")],
    common: Common,
    *,
    reason: Reason,
    actor: Actor = None,
) -> None:
    """Ask for all reference data of one category. The answer takes the place of what is there.

    An open reference request is replaced; while that one is being answered, this is refused.
    """
    try:
        category = category_of(rtype)
    except BadValue as error:
        raise typer.BadParameter(str(error), param_hint="RTYPE") from error
    who = audit(actor, reason)
    with with_store(common) as at:
        made = asked(reference_request(category, at), at, who)
    _tell(common, made)


@command("msgx requests", "msgx requests --limit 5 --json")
def requests(common: Common, *, limit: Limit = None) -> None:
    """Requests to the AODB and what became of each, newest first."""
    _list(common, limit)


def _list(common: Common, limit: int | None) -> None:
    with with_store(common) as at:
        print_list(
            common,
            lambda n: [request_row(each) for each in at.store.requests(n)],
            COLUMNS,
            limit=limit,
            empty="no requests",
        )


def _schedule(days: str, at: WithStore, *, yes: bool) -> Request:
    try:
        return schedule_request(days, at, confirmed=yes, how="--yes")
    except BadValue as error:
        raise typer.BadParameter(str(error), param_hint="DAY") from error


def _tell(common: Common, made: Request) -> None:
    if common.as_json:
        output.print_json(request_row(made))
        return
    row = request_row(made)
    print(f"{made.request_id}\t{row['SLOT'].value} {row['ASKS_FOR']} {row['STATE'].value}")
    output.note("it is sent by the running msgx, or by `msgx drain`; `msgx requests` tells what became of it")
