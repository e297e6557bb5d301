"""`msgx outbox`: events and their delivery; dead ones can be sent again or discarded."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Annotated

import typer

from msgx_app.cli.app import new_app
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting
from msgx_app.cli.listing import print_list, print_results
from msgx_app.cli.options import MAX_ID, Actor, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import with_store
from msgx_core.model.events import Target
from msgx_core.ports.operations import OperatorResult

app = new_app()

COLUMNS = (
    "EVENT_ID TARGET FLID STATE_VERSION MSG_ID STATUS ATTEMPTS LAST_CODE NEXT_ATTEMPT_AT CREATED_AT SENT_AT"
).split()


class Topic(enum.StrEnum):
    """How a target is named on the command line."""

    MSG = "msg"
    SCHD = "schd"


TopicOption = Annotated[
    Topic | None, typer.Option("--target", help="Only events of this topic; ids count apart in each.")
]
EventIds = Annotated[
    list[int], typer.Argument(metavar="ID", min=-MAX_ID, max=MAX_ID, help="EVENT_IDs of dead events.")
]


def _target(topic: Topic | None) -> Target | None:
    return None if topic is None else Target[topic.name]


@app.callback(invoke_without_command=True)
@command("msgx outbox --dead", "msgx outbox --pending --target msg", "msgx outbox --json")
def outbox(
    context: typer.Context,
    common: Common,
    *,
    dead: Annotated[bool, typer.Option("--dead", help="Only those that were given up.")] = False,
    pending: Annotated[bool, typer.Option("--pending", help="Only those not sent yet.")] = False,
    target: TopicOption = None,
    limit: Limit = None,
) -> None:
    """Events by EVENT_ID, sent ones too as long as they are kept; or requeue and discard dead ones."""
    if not lists(context):
        return
    if dead and pending:
        raise typer.BadParameter("--dead or --pending, not both", param_hint="--dead")
    status = "DEAD" if dead else "PENDING" if pending else None
    topic = _target(target)
    with with_store(common) as at:
        print_list(
            common,
            lambda n: at.store.events(status, None if topic is None else topic.value, n),
            COLUMNS,
            limit=limit,
            empty=f"no {status.lower()} events" if status else "no events",
        )


@app.command("requeue")
@command('msgx outbox requeue 41 42 --reason "the topic takes larger records now"')
def requeue(
    event_ids: EventIds, common: Common, *, reason: Reason, target: TopicOption = None, actor: Actor = None
) -> None:
    """Dead events are sent again, with their attempts counted from zero."""
    with with_store(common) as at:
        why = audit(actor, reason)
        results = at.store.requeue_events(event_ids, why, at.clock.now(), _target(target))
    _report(common, results, "pending again")


@app.command("discard")
@command('msgx outbox discard 41 --reason "the consumer has read it from the store"')
def discard(
    event_ids: EventIds, common: Common, *, reason: Reason, target: TopicOption = None, actor: Actor = None
) -> None:
    """Dead events are laid aside for good: a person took note."""
    with with_store(common) as at:
        why = audit(actor, reason)
        results = at.store.discard_events(event_ids, why, at.clock.now(), _target(target))
    _report(common, results, "discarded")


def _report(common: Common, results: Sequence[OperatorResult], done: str) -> None:
    if not print_results(common, results, key="EVENT_ID", done=done):
        raise Exiting(EXIT_NEGATIVE)
