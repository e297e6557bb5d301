"""`msgx schema`: what consumers read, described for machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common, command
from msgx_app.cli.output import print_json_array
from msgx_app.http.documents import FILES, text_of
from msgx_app.settings import Settings


@command("msgx schema asyncapi.json", "msgx schema --into docs/schemas")
def schema(
    common: Common,
    *,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help=f"One of {', '.join(FILES)}.")] = None,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Write all of them there instead.")
    ] = None,
) -> None:
    """JSON Schemas of a flight and of both topics, the AsyncAPI document of the topics, the OpenAPI document.

    Topics and the form of times are those of the configuration. Without a NAME: what there is.
    """
    if name is not None and into is not None:
        raise typer.BadParameter("a NAME or --into DIR, not both", param_hint="NAME")
    if name is not None and name not in FILES:
        raise typer.BadParameter(f"{name!r}: one of {', '.join(FILES)}", param_hint="NAME")
    settings = common.load().settings
    if name is not None:
        print(text_of(name, settings), end="")
    elif into is not None:
        _write(settings, into)
    elif common.as_json:
        print_json_array(FILES)
    else:
        print("\n".join(FILES))


def _write(settings: Settings, into: Path) -> None:
    try:
        into.mkdir(parents=True, exist_ok=True)
        for each in FILES:
            (into / each).write_text(text_of(each, settings), encoding="utf-8")
            print(into / each)
    except OSError as error:
        raise Negative(f"{into}: {error.strerror or error}") from error
