"""What every command takes: --config, --set and --json; and what operator actions take."""

from __future__ import annotations

import getpass
import inspect
import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import frozen

from msgx_app.cli.errors import Negative

if TYPE_CHECKING:
    from msgx_app.settings import LoadedSettings
    from msgx_core.ports.operations import Audit

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Configuration; else MSGX_CONFIG, else msgx.toml in this folder."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one setting; may be given several times."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on standard output, for machines.")]


def _not_blank(text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise typer.BadParameter("a few words why, please")
    return text


Reason = Annotated[
    str,
    typer.Option("--reason", metavar="TEXT", callback=_not_blank, help="Why; kept in the audit."),
]
OptionalReason = Annotated[
    str | None,
    typer.Option("--reason", metavar="TEXT", callback=_not_blank, help="Why; kept in the audit."),
]
Actor = Annotated[
    str | None, typer.Option("--actor", metavar="NAME", help="Who, for the audit; default: your user name.")
]
MAX_ID = 2**53 - 1
"""Ids that every store and every JSON reader gets right."""

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=1,
        max=MAX_ID,
        help="At most so many; default: 100 on a terminal, else all.",
    ),
]
After = Annotated[
    int | None,
    typer.Option("--after", metavar="ID", min=-MAX_ID, max=MAX_ID, help="Only what comes after this id."),
]


@frozen
class Common:
    """The options that every command has."""

    config: Path | None = None
    sets: Mapping[str, str] = {}
    as_json: bool = False

    def load(self) -> LoadedSettings:
        """The settings in force. Raises `ConfigProblems` with all that is wrong."""
        from msgx_app.settings import load_settings

        return load_settings(self.config_path(), os.environ, self.sets)

    def config_path(self) -> Path | None:
        """The file that is read; None: there is none."""
        from msgx_app.settings import find_config

        return find_config(Path.cwd()) if self.config is None else self.config


def command(*examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that all have, as its argument `common`, and examples in its help."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(config: Path | None, sets: list[str] | None, as_json: bool, **own: Any) -> None:
            function(common=Common(config, parse_sets(sets or ()), as_json), **own)

        own = [
            parameter
            for parameter in inspect.signature(function, eval_str=True).parameters.values()
            if parameter.name != "common"
        ]
        shared = [_option("config", ConfigOption, None), _option("sets", SetOption, None)]
        parameters = [*own, *shared, _option("as_json", JsonOption, False)]
        setattr(run, "__signature__", inspect.Signature(parameters))  # noqa: B010 - unknown to mypy
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        lines = "\n".join(f"  {example}" for example in examples)
        run.__doc__ = f"{inspect.getdoc(function)}\n\n\b\nExample:\n{lines}"
        return run

    return decorate


def _option(name: str, annotation: Any, default: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def parse_sets(texts: list[str] | tuple[()]) -> dict[str, str]:
    """`KEY=VALUE` texts as a mapping; the last one of a key wins."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--set")
        found[key.strip()] = value.strip()
    return found


def lists(context: typer.Context) -> bool:
    """For a group that lists when it has no subcommand: whether it is to list now.

    Options that belong behind the subcommand are a usage error, not silently lost.
    """
    name = context.invoked_subcommand
    if name is None:
        return True
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            context.fail(f"{option} belongs to the list: write options behind {name}")
    return False


def audit(actor: str | None, reason: str) -> Audit:
    """Who and why, for an operator action."""
    from msgx_core.ports.operations import Audit

    if actor is None:
        try:
            actor = getpass.getuser()
        except (KeyError, OSError) as error:
            raise Negative(f"who are you? No user name is known ({error}): give --actor NAME") from error
    return Audit(actor, reason)
