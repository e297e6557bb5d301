"""`msgx writeback`: mailbox marks that are owed or were given up, and one more chance for these."""

from __future__ import annotations

from typing import Annotated

import typer

from msgx_app.cli.app import new_app
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting
from msgx_app.cli.listing import print_list, print_results
from msgx_app.cli.options import MAX_ID, Actor, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import with_store

app = new_app()

COLUMNS = "MSG_ID STATE FINISHED_AT BACKFILL_ATTEMPTS BACKFILL_NEXT_AT".split()
GIVEN_UP = (
    "MSG_ID STATE FINISHED_AT BACKFILL_ATTEMPTS BACKFILL_ABANDONED_AT BACKFILL_ABANDONED_REASON".split()
)


@app.callback(invoke_without_command=True)
@command("msgx writeback", "msgx writeback --abandoned --json")
def writeback(
    context: typer.Context,
    common: Common,
    *,
    abandoned: Annotated[bool, typer.Option("--abandoned", help="Those that were given up.")] = False,
    limit: Limit = None,
) -> None:
    """Finished messages whose mark in the mailbox is still owed; or give abandoned ones another chance."""
    if not lists(context):
        return
    with with_store(common) as at:
        columns, empty = (
            (GIVEN_UP, "no abandoned write-backs") if abandoned else (COLUMNS, "no write-backs are owed")
        )
        print_list(common, lambda n: at.store.writebacks(abandoned, n), columns, limit=limit, empty=empty)


@app.command("resume")
@command(
    'msgx writeback resume 17 18 --reason "the row is back"',
    'msgx writeback resume --all --reason "repaired"',
)
def resume(
    common: Common,
    *,
    msg_ids: Annotated[
        list[int] | None, typer.Argument(metavar="ID", min=-MAX_ID, max=MAX_ID, help="MSG_IDs.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All abandoned ones.")] = False,
    reason: Reason,
    actor: Actor = None,
) -> None:
    """Abandoned write-backs are due once more (D-38)."""
    if everything == bool(msg_ids):
        raise typer.BadParameter("give ids or --all", param_hint="ID")
    who = audit(actor, reason)
    with with_store(common) as at:
        results = at.store.resume_writebacks(None if everything else msg_ids, who, at.clock.now())
    nothing = "no abandoned write-backs"
    if not print_results(common, results, key="MSG_ID", done="due again", nothing=nothing):
        raise Exiting(EXIT_NEGATIVE)
