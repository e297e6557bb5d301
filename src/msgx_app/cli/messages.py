"""`msgx messages`: the list, one message with its whole story, and letting a duplicate in."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from attrs import evolve

from msgx_app.answers.documents import message_story
from msgx_app.cli import output, times
from msgx_app.cli.app import new_app
from msgx_app.cli.errors import Exiting, Negative
from msgx_app.cli.options import MAX_ID, Actor, After, Common, Limit, Reason, audit, command, lists
from msgx_app.cli.parts import WithStore, with_store
from msgx_core.model.proc import MessageState
from msgx_core.ports.operations import MessageFilter, Row

app = new_app()

COLUMNS = "MSG_ID STATE TYPE STYP SEQN ERROR_CODE REASON ENQUEUED_AT DETAIL".split()
_TIMES = (
    ("RECEIVED_AT", "received in the mailbox"),
    ("ENQUEUED_AT", "taken in"),
    ("APPLIED_AT", "applied"),
    ("FINISHED_AT", "finished"),
    ("NEXT_ATTEMPT_AT", "next attempt"),
    ("BACKFILL_AT", "marked in the mailbox"),
    ("BACKFILL_NEXT_AT", "next write-back"),
    ("BACKFILL_ABANDONED_AT", "write-back given up"),
)

MsgId = Annotated[
    int, typer.Argument(metavar="ID", min=-MAX_ID, max=MAX_ID, help="MSG_ID: the id in the mailbox.")
]


@app.callback(invoke_without_command=True)
@command(
    "msgx messages --state DEAD --since 2h", "msgx messages show 5", "msgx messages --flid 700101 --json"
)
def messages(
    context: typer.Context,
    common: Common,
    *,
    state: Annotated[str | None, typer.Option(help="PENDING, FAILED, SUCCEEDED, SKIPPED or DEAD.")] = None,
    reason: Annotated[str | None, typer.Option(help="A reason, whole or up to its colon.")] = None,
    type_: Annotated[str | None, typer.Option("--type", help="TYPE, such as FLOP.")] = None,
    styp: Annotated[str | None, typer.Option(help="STYP, such as GTDT.")] = None,
    flid: Annotated[
        int | None, typer.Option(min=-MAX_ID, max=MAX_ID, help="Messages that touched this flight.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Taken in since then: ISO time, or 2h, 30m, 7d.")
    ] = None,
    limit: Limit = None,
    after: After = None,
) -> None:
    """Messages and their fate, by MSG_ID; or one of them."""
    if not lists(context):
        return
    if state is not None and state.upper() not in MessageState.__members__:
        legal = ", ".join(MessageState.__members__)
        raise typer.BadParameter(f"{state!r}: one of {legal}", param_hint="--state")
    with with_store(common) as at:
        now = at.clock.now()
        where = MessageFilter(
            state=None if state is None else state.upper(),
            reason=reason,
            type=type_,
            styp=styp,
            flid=flid,
            since=None if since is None else times.parse_instant(since, at.policy, now, "--since"),
            after=after,
        )
        _print_list(at, where, output.wanted(limit, as_json=common.as_json), as_json=common.as_json)


def _print_list(at: WithStore, where: MessageFilter, limit: int | None, *, as_json: bool) -> None:
    def fetch(behind: int | None, n: int) -> list[Row]:
        return list(at.store.messages(evolve(where, after=behind, limit=n)))

    rows = output.paged(fetch, lambda row: int(row["MSG_ID"]), where.after)
    shown = output.First(rows, limit, lambda row: f"--after {row['MSG_ID']}")
    if as_json:
        output.print_json_array(shown)
    else:
        output.print_rows(shown, COLUMNS, empty="no messages")
    shown.tell()


@app.command("show")
@command("msgx messages show 5", "msgx messages show 5 --raw > message.xml")
def show(
    msg_id: MsgId,
    common: Common,
    *,
    raw: Annotated[
        bool, typer.Option("--raw", help="The text as it is in the mailbox or archive, nothing else.")
    ] = False,
) -> None:
    """One message with its whole story: fate, times, events, alerts, operator actions."""
    with with_store(common) as at:
        row = at.store.message(msg_id)
        if row is None:
            raise Negative(f"there is no message {msg_id}: never taken in, or removed by retention")
        if raw:
            from msgx_app.cli.raw import print_raw

            print_raw(at, dict(row), as_json=common.as_json)
            return
        story = message_story(at.store, row)
    if common.as_json:
        output.print_json(story)
    else:
        _print_story(story)


def _print_story(story: dict[str, Any]) -> None:
    parts = ("EVENTS", "SNAPSHOTS", "ALERTS", "AUDIT")
    told = {*parts, *(name for name, _ in _TIMES)}
    facts = [(name, value) for name, value in story.items() if name not in told]
    when = [(words, story.get(name)) for name, words in _TIMES]
    output.print_facts([*facts, *when], title=f"message {story['MSG_ID']}")
    events = [{**event, **event["PAYLOAD"]} for event in story["EVENTS"]]
    columns = ("EVENT_ID", "FLID", "KIND", "STATE_VERSION", "CHANGED", "STATUS")
    for title, rows, shown in (
        ("events", events, columns),
        ("schedule log", story["SNAPSHOTS"], ("OPERATION_DAY", "RESULT", "RECS", "DELETED_COUNT", "FLAGS")),
        ("alerts", story["ALERTS"], ("ALERT_ID", "CODE", "FLID", "CREATED_AT", "ACKED_AT", "DETAIL")),
        ("operator actions", story["AUDIT"], ("ACTION", "ACTOR", "REASON", "CREATED_AT", "DETAIL")),
    ):
        if rows:
            if not output.on_terminal():
                print(f"\n{title}")
            output.print_rows(rows, shown, empty="", title=title)


@app.command("readmit")
@command('msgx messages readmit 9 --reason "SEQN was used twice, both are real"')
def readmit(msg_id: MsgId, common: Common, *, reason: Reason, actor: Actor = None) -> None:
    """Let a message in that was skipped as a duplicate; it runs under its own identity (D-24)."""
    who = audit(actor, reason)
    with with_store(common) as at:
        result = at.store.readmit(msg_id, who, at.clock.now())
    if common.as_json:
        done = result.refused is None
        output.print_json({"MSG_ID": msg_id, "DONE": done, "REFUSED": result.refused})
    if result.refused is not None:
        if common.as_json:
            raise Exiting(1)
        raise Negative(f"message {msg_id}: refused: {result.refused}")
    if not common.as_json:
        print(f"message {msg_id} is pending again; `msgx drain` or the daemon takes it up")
