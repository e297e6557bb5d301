"""The table of commands, and how typer finds each without importing all of them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command


class Entry(NamedTuple):
    """One command: `target` is `module:function`, or `module:app` for a group of its own."""

    name: str
    target: str
    help: str


SECTIONS: Final[tuple[tuple[str, tuple[Entry, ...]], ...]] = (
    (
        "Set up",
        (
            Entry("init", "setup:init", "write a commented configuration, make mailbox and store"),
            Entry("config", "config:app", "show the values in force, check them and the services"),
            Entry("migrate", "setup:migrate", "bring the store's schema up"),
            Entry("token", "token:app", "who may use the HTTP interface"),
            Entry("schema", "schema:schema", "what consumers read: JSON Schemas, AsyncAPI, OpenAPI"),
        ),
    ),
    (
        "Run",
        (
            Entry("run", "running:run", "the daemon"),
            Entry("drain", "running:drain", "process, write back and relay until nothing is left"),
            Entry("send", "send:send", "put messages in the mailbox"),
            Entry("decode", "decode:decode", "what codec and rules make of a message, without a store"),
            Entry("simulate", "simulate:simulate", "realistic traffic from a seed"),
        ),
    ),
    (
        "Look",
        (
            Entry("status", "status:status", "head, counts, outbox, lease, health of the services"),
            Entry("messages", "messages:app", "messages and their fate; one message's story; readmit"),
            Entry("explain", "explain:explain", "why a message did what it did, rule by rule"),
            Entry("flights", "flights:app", "the flight board; one flight's full state and history"),
            Entry("ref", "reference:ref", "reference data"),
            Entry("resources", "reference:resources", "which resources are available"),
            Entry("snapshots", "snapshots:snapshots", "the schedule log"),
            Entry("verify", "verify:verify", "compute flights again from the archive and compare"),
            Entry("requests", "requests:requests", "what the AODB was asked for, and the answers"),
            Entry("jobs", "jobs:jobs", "work left to the daemon, and what came of it"),
        ),
    ),
    (
        "Act",
        (
            Entry("request", "requests:app", "ask the AODB for a schedule or for reference data"),
            Entry("replay", "replay:replay", "let failed and dead messages run again"),
            Entry("writeback", "writeback:app", "mailbox marks that are owed; resume abandoned ones"),
            Entry("outbox", "outbox:app", "events and their delivery; requeue or discard dead ones"),
            Entry("alerts", "alerts:app", "what a person must look at; acknowledge"),
            Entry("cache", "cache:app", "rebuild the snapshot cache"),
            Entry("recover", "recover:recover", "after a restored backup or a lost topic"),
            Entry("sweep", "lifecycle:sweep", "move ended flights to the history store"),
            Entry("retention", "lifecycle:retention", "remove what is old enough, or say what would go"),
        ),
    ),
)
COMMANDS: Final = {entry.name: entry for _, entries in SECTIONS for entry in entries}


class LazyCommands(MutableMapping[str, Any]):
    """typer's table of commands: a command's module is imported when that command is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _load(COMMANDS[name])
        return self._made[name]

    def __setitem__(self, name: str, made: Any) -> None:
        self._made[name] = made

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS


class Root(TyperGroup):
    """The command `msgx`: its help comes from the table alone."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands by section, in the order of the table."""
        width = max(map(len, COMMANDS))
        for title, entries in SECTIONS:
            with formatter.section(title):
                formatter.write_dl([(entry.name.ljust(width), entry.help) for entry in entries])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; every error but those of usage ends here."""
        from msgx_app.cli.errors import guarded

        with guarded():
            return super().invoke(ctx)


def new_app() -> typer.Typer:
    """An empty typer application in the house style: plain help, no shell completion commands."""
    return typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=False
    )


def command() -> Any:
    """The whole command line as one typer (click) group."""
    app = typer.Typer(
        cls=Root,
        add_completion=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(msgx)
    group: Any = get_command(app)
    group.commands = LazyCommands()
    return group


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"msgx {version('msgx')}")
        except PackageNotFoundError:
            print("msgx (not installed)")
        raise typer.Exit


def msgx(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_version
    ),
) -> None:
    """From an airport's AODB to the services that follow its flights.

    Every command takes --help, --json for machines, --config FILE (else MSGX_CONFIG, else msgx.toml in
    this folder) and --set KEY=VALUE.

    \b
    Example:
      msgx init --airport KMG && msgx simulate --flights 40 && msgx drain && msgx flights

    Exit codes: 0 ok, 1 negative answer, 2 usage, 3 configuration, 4 a service does not answer;
    70 a fault of msgx, 130 interrupted, 141 the reader of our output went away.
    """


def _load(entry: Entry) -> Any:
    module, _, attribute = entry.target.partition(":")
    found = getattr(import_module(f"msgx_app.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        app = new_app()
        app.command(entry.name)(found)
        found = app
    made: Any = get_command(found)
    made.name = entry.name
    return made
