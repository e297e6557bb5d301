"""`msgx send`: messages into the mailbox, as they are, in the order given."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import with_inbox
from msgx_core.ports import Inbox

STDIN = "-"


@command("msgx send samples/*.xml", "cat message.xml | msgx send -")
def send(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Messages; - is standard input.")],
    common: Common,
) -> None:
    """Put messages in the mailbox, byte for byte, one a file; print their ids.

    All files are looked at before the first is sent.
    """
    if files.count(STDIN) > 1:
        raise typer.BadParameter("standard input can be read once", param_hint="FILE")
    with with_inbox(common) as at:
        for name in files:
            _check_readable(name)
        sent: list[dict[str, Any]] = []
        try:
            for name in files:
                sent.append({"FILE": name, "MSG_ID": _send(at.inbox, name)})
                if not common.as_json:
                    print(f"{sent[-1]['MSG_ID']}\t{name}")
        except BaseException:
            if sent:
                output.note(f"sent before that: {len(sent)} of {len(files)}")
            raise
        finally:
            if common.as_json:
                output.print_json_array(sent)


def read_message(name: str) -> bytes:
    """The bytes of a file, or of standard input."""
    return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()


def _check_readable(name: str) -> None:
    if name == STDIN:
        return
    try:
        with Path(name).open("rb") as file:
            file.read(1)
    except OSError as error:
        raise Negative(f"{name}: {error.strerror or error}; nothing was sent") from error


def _send(inbox: Inbox, name: str) -> int:
    try:
        return inbox.send(read_message(name))
    except ValueError as error:
        raise Negative(f"{name}: refused: {error}") from error
