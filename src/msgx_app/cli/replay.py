"""`msgx replay`: failed and dead messages run again; a dry run shows what would come of it today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting, Negative
from msgx_app.cli.listing import print_results
from msgx_app.cli.options import Actor, Common, OptionalReason, audit, command
from msgx_app.cli.parts import WithStore, with_store
from msgx_core.ports.operations import Audit, OperatorResult


@command(
    'msgx replay 17 --reason "codec repaired"',
    "msgx replay 17 18 --dry-run",
    'msgx replay 17 --from-archive --reason "its mailbox row was cleaned up too early"',
)
def replay(
    msg_ids: Annotated[list[int], typer.Argument(metavar="ID", help="MSG_IDs.")],
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
    from msgx_core.rules.replay import REPLAY_WHITELIST

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
        if archived:
            results: Sequence[OperatorResult] = _from_archive(at, wanted, who)
        else:
            results = at.store.replay(wanted, () if force else REPLAY_WHITELIST, who, at.clock.now())
    if not print_results(common, results, key="MSG_ID", done="pending again"):
        raise Exiting(EXIT_NEGATIVE)


def _from_archive(at: WithStore, msg_ids: list[int], who: Audit) -> list[OperatorResult]:
    """Let the pump find the archived text of each; those that have none are refused."""
    from msgx_app.cli.raw import from_archive
    from msgx_core.rules.policy_text import raw_grounds

    grounds: dict[int, str] = {}
    refused: dict[int, OperatorResult] = {}
    for msg_id in msg_ids:
        row = at.store.message(msg_id)
        if row is None:
            refused[msg_id] = OperatorResult(msg_id, "unknown message")
            continue
        try:
            grounds[msg_id] = raw_grounds(from_archive(at, row)[0])
        except Negative as error:
            refused[msg_id] = OperatorResult(msg_id, str(error))
    done = at.store.replay_from_archive(grounds, who, at.clock.now())
    results = refused | {result.target: result for result in done}
    return [results[msg_id] for msg_id in msg_ids]


def _dry_run(common: Common, msg_ids: list[int], *, force: bool, archived: bool) -> None:
    from msgx_app.cli.parts import Base
    from msgx_app.cli.previews import preview_document
    from msgx_app.cli.raw import from_archive
    from msgx_app.container import open_container

    with open_container(common.load().settings, log="console") as container:
        at = Base(container.settings, container.pipeline.config.policy, container.clock)
        found = []
        for msg_id in msg_ids:
            row = container.store.message(msg_id) if archived else None
            raw = None if row is None else from_archive(at, row)[1]
            found.append(preview_document(container, msg_id, force=force, raw=raw))
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
        for change in flight["CHANGES"] or [{"TAG": "(nothing differs)"}]
    ]
    if rows:
        output.print_rows(rows, ("FLID", "VERSION", "TAG", "BEFORE", "AFTER"), empty="")
    for title in ("REFERENCE", "ALERTS"):
        for row in document.get(title, ()):
            print(output.people({title: row}))
