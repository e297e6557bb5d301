"""`msgx send`: messages into the mailbox, as they are, in the order given."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import with_inbox

STDIN = "-"


@command("msgx send message.xml", "cat message.xml | msgx send -")
def send(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Messages; - is standard input.")],
    common: Common,
) -> None:
    """Put messages in the mailbox, byte for byte, one a file; print their ids.

    All are sent together, in the order given, or none; ids are printed when they are in the mailbox.
    """
    if files.count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read once", param_hint="FILE")
    with with_inbox(common) as at:
        raws = [_read(name) for name in files]
        try:
            ids = at.inbox.send_many(raws)
        except ValueError as error:
            raise Negative(f"refused: {error}; nothing was sent") from error
    if common.as_json:
        output.print_json_array([{"FILE": n, "MSG_ID": i} for n, i in zip(files, ids, strict=True)])
    else:
        for name, msg_id in zip(files, ids, strict=True):
            print(f"{msg_id}\t{name}")


def read_message(name: str) -> bytes:
    """The bytes of a file, or of standard input."""
    return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()


def _read(name: str) -> bytes:
    try:
        return read_message(name)
    except OSError as error:
        said = f"{name}: {error.strerror or error}; nothing was sent"
        raise typer.BadParameter(said, param_hint="FILE") from error
