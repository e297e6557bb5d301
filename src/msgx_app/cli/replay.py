"""`msgx replay`: failed and dead messages run again; a dry run shows what would come of it today."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting
from msgx_app.cli.listing import print_results
from msgx_app.cli.options import MAX_ID, Actor, Common, OptionalReason, audit, command
from msgx_app.cli.parts import with_store


@command(
    'msgx replay 17 --reason "codec repaired"',
    "msgx replay 17 18 --dry-run",
    'msgx replay 17 --from-archive --reason "its mailbox row was cleaned up too early"',
)
def replay(
    msg_ids: Annotated[list[int], typer.Argument(metavar="ID", min=-MAX_ID, max=MAX_ID, help="MSG_IDs.")],
    common: Common,
    *,
    reason: OptionalReason = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also those that cannot get better by themselves.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; show the effect on today's state.")
    ] = False,
    archived: Annotated[
        bool,
        typer.Option("--from-archive", help="Those whose text is missing: take it from the archive (D-36)."),
    ] = False,
    actor: Actor = None,
) -> None:
    """Let failed and dead messages run again, under the same identity, in mailbox order from there."""
    from msgx_app.answers.replays import replayed

    wanted = list(dict.fromkeys(msg_ids))
    if dry_run:
        _dry_run(common, wanted, force=force, archived=archived)
        return
    if reason is None:
        raise typer.BadParameter("say why; it is kept in the audit", param_hint="--reason")
    who = audit(actor, reason)
    if archived and force:
        raise typer.BadParameter("not together with --from-archive", param_hint="--force")
    with with_store(common) as at:
        results = replayed(at, wanted, who, force=force, archived=archived)
    if not print_results(common, results, key="MSG_ID", done="pending again"):
        raise Exiting(EXIT_NEGATIVE)


def _dry_run(common: Common, msg_ids: list[int], *, force: bool, archived: bool) -> None:
    from msgx_app.answers.parts import Base
    from msgx_app.answers.previews import Previewer
    from msgx_app.answers.raw import from_archive
    from msgx_app.container import open_container

    with open_container(common.load().settings, log="console") as container:
        pipeline = container.pipeline
        at = Base(container.settings, pipeline.config.policy, container.clock)
        previewer = Previewer(pipeline.replay, container.store, pipeline.config.policy)
        found = []
        for msg_id in msg_ids:
            row = container.store.message(msg_id) if archived else None
            raw = None if row is None else from_archive(at, row)[1]
            found.append(previewer.document(msg_id, force=force, raw=raw))
    if common.as_json:
        output.print_json_array(found)
    else:
        for document in found:
            _print_preview(document)
    if any("REFUSED" in document for document in found):
        raise Exiting(EXIT_NEGATIVE)


def _print_preview(document: dict[str, Any]) -> None:
    told = ("FLIGHTS", "REFERENCE", "ALERTS")
    facts = [(key, value) for key, value in document.items() if key not in told]
    output.print_facts(facts, title=f"message {document['MSG_ID']}, dry run")
    rows = [
        {
            "FLID": flight["FLID"],
            "VERSION": f"{flight.get('FROM_VERSION', '-')} → {flight['STATE_VERSION']}",
            **change,
        }
        for flight in document.get("FLIGHTS", ())
        for change in output.telling(flight["CHANGES"]) or [{"TAG": "(nothing differs)"}]
    ]
    if rows:
        output.print_rows(rows, ("FLID", "VERSION", "TAG", "BEFORE", "AFTER"), empty="")
    for title in ("REFERENCE", "ALERTS"):
        for row in document.get(title, ()):
            print(output.people({title: row}))
