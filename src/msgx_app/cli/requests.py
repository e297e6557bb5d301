"""`msgx request` and `msgx requests`: ask upstream, and what became of it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.errors import Negative
from msgx_app.cli.listing import print_list
from msgx_app.cli.options import Actor, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import WithStore, with_store
from msgx_app.cli.times import parse_day
from msgx_core.errors import Conflict
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.rules.outbound import asked_window

if TYPE_CHECKING:
    from msgx_core.ports.operations import Audit

app = new_app()

COLUMNS = "REQUEST_ID SLOT ASKS_FOR STATE REASON SEQN CREATED_AT SENT_AT CLOSED_AT RESP_MSG_ID".split()
_RANGE = ".."


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
    'msgx request schedule today..2027-03-16 --reason "after the outage"',
)
def schedule(
    days: Annotated[
        str, typer.Argument(metavar="DAY[..DAY]", help="Operation days: 2027-03-14, today, or a range.")
    ],
    common: Common,
    *,
    reason: Reason,
    actor: Actor = None,
) -> None:
    """Ask for the daily schedule of operation days. The answer is taken as complete for each of them.

    A flight that is on a day's roster and not in the answer is marked deleted (D-11). An open schedule
    request is replaced; while that one is being answered, this is refused.
    """
    who = audit(actor, reason)
    with with_store(common) as at:
        first, last = _days(days, at)
        wanted = Request(
            0, RequestSlot.RQFD, RequestState.PENDING, at.clock.now(), first_day=first, last_day=last
        )
        made = _create(at, wanted, who)
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
    category = rtype.strip().upper()
    if category not in CATEGORIES and category != RSTA:
        raise typer.BadParameter(f"{rtype!r}: one of {' '.join(CATEGORIES)} {RSTA}", param_hint="RTYPE")
    who = audit(actor, reason)
    with with_store(common) as at:
        wanted = Request(0, RequestSlot.RQRD, RequestState.PENDING, at.clock.now(), rtype=category)
        made = _create(at, wanted, who)
    _tell(common, made)


@command("msgx requests", "msgx requests --limit 5 --json")
def requests(common: Common, *, limit: Limit = None) -> None:
    """Requests to the AODB and what became of each, newest first."""
    _list(common, limit)


def request_row(each: Request) -> dict[str, Any]:
    """A request under the column names of `REQ_TRACK`; ASKS_FOR is the same in short, for people."""
    days = f"{each.first_day}" if each.first_day == each.last_day else f"{each.first_day}..{each.last_day}"
    return {
        "REQUEST_ID": each.request_id,
        "SLOT": each.slot,
        "ASKS_FOR": each.rtype or days,
        "STATE": each.state,
        "REASON": each.reason,
        "SEQN": each.seqn,
        "RTYPE": each.rtype,
        "FIRST_DAY": each.first_day,
        "LAST_DAY": each.last_day,
        "CREATED_AT": each.created_at,
        "SEND_STARTED_AT": each.send_started_at,
        "SENT_AT": each.sent_at,
        "CLOSED_AT": each.closed_at,
        "RESP_MSG_ID": each.resp_msg_id,
    }


def _list(common: Common, limit: int | None) -> None:
    with with_store(common) as at:
        print_list(
            common,
            lambda n: [request_row(each) for each in at.store.requests(n)],
            COLUMNS,
            limit=limit,
            empty="no requests",
        )


def _days(text: str, at: WithStore) -> tuple[date, date]:
    first, _, last = text.partition(_RANGE)
    now = at.clock.now()
    begin = parse_day(first, at.policy, now, "DAY")
    end = parse_day(last, at.policy, now, "DAY") if _RANGE in text else begin
    try:
        asked_window(begin, end, at.policy)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="DAY") from error
    return begin, end


def _create(at: WithStore, wanted: Request, who: Audit) -> Request:
    if not at.settings.mailbox.write_enabled:
        raise Negative("refused: msgx.mailbox.write-enabled = false, nothing is written into this mailbox")
    try:
        return at.store.create_request(wanted, who, at.clock.now())
    except Conflict as error:
        raise Negative(f"refused: {error}; ask again when that message is finished") from error


def _tell(common: Common, made: Request) -> None:
    if common.as_json:
        output.print_json(request_row(made))
        return
    row = request_row(made)
    print(f"{made.request_id}\t{row['SLOT'].value} {row['ASKS_FOR']} {row['STATE'].value}")
    output.note("it is sent by the running msgx, or by `msgx drain`; `msgx requests` tells what became of it")
