"""`msgx alerts`: what a person must look at, until a person says so."""

from __future__ import annotations

from typing import Annotated

import typer

from msgx_app.cli.app import new_app
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting
from msgx_app.cli.listing import print_list, print_results
from msgx_app.cli.options import MAX_ID, Actor, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import with_store

app = new_app()

COLUMNS = "ALERT_ID CODE MSG_ID FLID CREATED_AT ENDED_AT ACKED_AT DETAIL".split()


@app.callback(invoke_without_command=True)
@command("msgx alerts", "msgx alerts --all --json")
def alerts(
    context: typer.Context,
    common: Common,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Acknowledged ones too.")] = False,
    limit: Limit = None,
) -> None:
    """Open alerts by id; or acknowledge some. ENDED_AT is when an outage was over."""
    if not lists(context):
        return
    with with_store(common) as at:
        empty = "no alerts" if everything else "no open alerts"
        print_list(common, lambda n: at.store.alerts(everything, n), COLUMNS, limit=limit, empty=empty)


@app.command("ack")
@command('msgx alerts ack 3 4 --reason "called the AODB, they send it again"')
def ack(
    alert_ids: Annotated[
        list[int], typer.Argument(metavar="ID", min=-MAX_ID, max=MAX_ID, help="ALERT_IDs of open alerts.")
    ],
    common: Common,
    *,
    reason: Reason,
    actor: Actor = None,
) -> None:
    """Close alerts: a person took note."""
    who = audit(actor, reason)
    with with_store(common) as at:
        results = at.store.acknowledge(alert_ids, who, at.clock.now())
    if not print_results(common, results, key="ALERT_ID", done="acknowledged"):
        raise Exiting(EXIT_NEGATIVE)
