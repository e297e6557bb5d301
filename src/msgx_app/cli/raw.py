"""The raw text of a message, byte for byte."""

from __future__ import annotations

import base64
import sys
from typing import Any

from msgx_app import backends
from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.parts import WithStore


def print_raw(at: WithStore, row: dict[str, Any], *, as_json: bool) -> None:
    """Write the text of a message as the mailbox has it; in JSON as `RAW`, or `RAW_BASE64` if no UTF-8."""
    msg_id = row["MSG_ID"]
    inbox = backends.open_inbox(at.settings, at.clock)
    try:
        raw = inbox.fetch(msg_id)
    finally:
        inbox.close()
    if raw is None:
        raise Negative(f"message {msg_id}: its row or its text is not in the mailbox any more")
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    if as_json:
        output.print_json({**row, **_as_text(data)})
    elif output.on_terminal():
        text = data.decode("utf-8", "backslashreplace")
        print("\n".join(output.clean(line) for line in text.splitlines()))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def _as_text(data: bytes) -> dict[str, str]:
    try:
        return {"RAW": data.decode()}
    except UnicodeDecodeError:
        return {"RAW_BASE64": base64.b64encode(data).decode()}
