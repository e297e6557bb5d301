"""`msgx recover`: versions above what was seen, events once more, messages taken in again (D-31)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.options import MAX_ID, Actor, Common, Reason, audit, command

if TYPE_CHECKING:
    from msgx_app.container import Container
    from msgx_core.pipeline.recovery import RecoveryService
    from msgx_core.ports.operations import Audit

MOST_IDS = 1_000_000
MOST_VERSIONS = 1_000_000_000_000
_LEFT_BEFORE = "FLIGHTS_LEFT_BEFORE"


@command(
    'msgx recover --versions-by 1000 --republish --reason "store restored from the backup of 02:00"',
    'msgx recover --take-in 41200..43117 --reason "what came in after the backup"',
    'msgx recover --republish --reason "topics were deleted"',
)
def recover(
    common: Common,
    *,
    reason: Reason,
    versions_by: Annotated[
        int | None,
        typer.Option(
            "--versions-by",
            metavar="N",
            min=1,
            max=MOST_VERSIONS,
            help="Raise all versions, floors and event ids by so much.",
        ),
    ] = None,
    republish: Annotated[
        bool, typer.Option("--republish", help="Send every flight once more, on both topics.")
    ] = False,
    take_in: Annotated[
        str | None,
        typer.Option(
            "--take-in",
            metavar="FIRST..LAST",
            help="Take in mailbox ids that the store does not know, marked or not; from the archive too.",
        ),
    ] = None,
    actor: Actor = None,
) -> None:
    """Mend what a restored backup, a lost topic or a new store has left; docs/recovery.md says when.

    Needs the lease: stop msgx first. Several options are carried out in the order of this help. Audited.
    """
    from msgx_app.cli.supervise import holder_name, lease_held
    from msgx_app.container import open_container

    if versions_by is None and not republish and take_in is None:
        raise typer.BadParameter("say what: --versions-by, --republish or --take-in", param_hint="recover")
    ids = None if take_in is None else _range(take_in)
    who = audit(actor, reason)
    with open_container(common.load().settings, log="console") as container:
        container.pipeline.pin()
        with lease_held(container, holder_name("recover"), waiting=_waiting), _progress() as show:
            done = _recover(_service(container, show), versions_by, ids, who, republish=republish)
    if common.as_json:
        output.print_json(done)
    else:
        for name, value in done.items():
            print(f"{name}\t{value}")
    if ids is not None:
        _what_next(ids[0], done.get(_LEFT_BEFORE, 0))


def _what_next(first: int, left_before: int) -> None:
    if left_before:
        output.note(
            f"{left_before} flights left for the history store after this backup and are here again; what "
            "brings one back for another day would be dead: `msgx sweep` first, then `msgx drain`"
        )
    output.note(
        f"after `msgx drain` look at what is dead: msgx messages --state DEAD --after {first - 1}; "
        "docs/recovery.md says what to do"
    )


def _service(container: Container, show: Callable[[int], None]) -> RecoveryService:
    from msgx_core.pipeline.recovery import RecoveryService

    pipeline = container.pipeline
    return RecoveryService(
        container.store,
        container.inbox,
        container.archive,
        pipeline.cache_keeper,
        container.clock,
        pipeline.config.policy,
        show,
    )


def _recover(
    service: RecoveryService,
    versions_by: int | None,
    ids: tuple[int, int] | None,
    who: Audit,
    *,
    republish: bool,
) -> dict[str, Any]:
    done: dict[str, Any] = {}
    if versions_by is not None:
        raised = service.raise_versions(versions_by, who)
        done |= {"FLIGHTS_RAISED": raised.flights, "FLOORS_RAISED": raised.floors}
    if republish:
        done["FLIGHTS_REPUBLISHED"] = service.republish(who)
    if ids is not None:
        taken = service.take_in(*ids, who)
        done |= {"MESSAGES_TAKEN_IN": taken.new, "FROM_ARCHIVE": taken.from_archive}
        if taken.left_before:
            done[_LEFT_BEFORE] = len(taken.left_before)
    return done


def _range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,20})\.\.(\d{1,20})", text.strip(), re.ASCII)
    if match is None or int(match[1]) > int(match[2]):
        raise typer.BadParameter(f"{text!r}: write FIRST..LAST, such as 41200..43117", param_hint="--take-in")
    first, last = int(match[1]), int(match[2])
    if last > MAX_ID:
        raise typer.BadParameter(f"{last}: ids end at {MAX_ID}", param_hint="--take-in")
    if last - first >= MOST_IDS:
        raise typer.BadParameter(f"more than {MOST_IDS} ids; take them in parts", param_hint="--take-in")
    return first, last


def _waiting(holder: str) -> None:
    output.note(f"waiting: {holder} holds the lease, or was killed and left it")


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    if not output.on_terminal():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("recovering", console=Console(stderr=True)) as status:
        yield lambda done: status.update(f"sending again: {done} flights")
