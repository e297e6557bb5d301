"""`msgx decode`: what the codec and the rules make of a message, without a store."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import EXIT_NEGATIVE, Exiting
from msgx_app.cli.options import Common, command
from msgx_app.cli.send import read_message
from msgx_app.settings import Settings

_SHOWN_FLIDS = 20


@command("msgx decode message.xml", "msgx decode message.xml --json", "cat message.xml | msgx decode -")
def decode(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A message; - is standard input.")],
    common: Common,
) -> None:
    """What codec and rules make of a message, as if the store were empty: kind, identity, problems.

    Exits with 1 if it would end DEAD. Without a configuration the defaults are taken.
    """
    from msgx_app.answers.verdicts import verdict

    try:
        raw = read_message(file)
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror or error}", param_hint="FILE") from error
    found = {"FILE": file, "BYTES": len(raw), **verdict(raw, _settings(common))}
    if common.as_json:
        output.print_json(found)
    else:
        _print(found)
    if found["STATE"] == "DEAD":
        raise Exiting(EXIT_NEGATIVE)


def _settings(common: Common) -> Settings:
    """Those of the configuration; without any, the defaults serve."""
    import os

    from msgx_app.settings import load_settings

    path = common.config_path()
    code = "msgx.airport.code"
    lacking = path is None and code not in common.sets and "MSGX_AIRPORT_CODE" not in os.environ
    overrides = {code: "XXX", **common.sets} if lacking else common.sets
    return load_settings(path, os.environ, overrides).settings


def _print(found: dict[str, Any]) -> None:
    facts = {key: value for key, value in found.items() if key not in ("PROBLEMS", "FLIDS")}
    flids = found.get("FLIDS", [])
    if flids:
        more = f" and {len(flids) - _SHOWN_FLIDS} more" if len(flids) > _SHOWN_FLIDS else ""
        facts["FLIDS"] = " ".join(map(str, flids[:_SHOWN_FLIDS])) + more
    output.print_facts(facts.items(), title=f"{found['FILE']}: would end {found['STATE']}")
    columns = ("LINE", "COLUMN", "REASON", "RECORD", "FLID", "TAG", "TEXT", "EFFECT")
    if found["PROBLEMS"]:
        if not output.on_terminal():
            print("\nproblems")
        output.print_rows(found["PROBLEMS"], columns, empty="", title="problems")
