"""The raw text of a message, byte for byte, on standard output."""

from __future__ import annotations

import sys
from typing import Any

from msgx_app.answers.parts import Base
from msgx_app.answers.raw import as_bytes, raw_document, stored_text
from msgx_app.cli import output


def print_raw(at: Base, row: dict[str, Any], *, as_json: bool) -> None:
    """Write the text of a message, of the mailbox or else the archive; in JSON as `RAW` or `RAW_BASE64`."""
    key, raw = stored_text(at, row)
    if key is not None:
        output.note(f"message {row['MSG_ID']}: not in the mailbox any more; this is the archive's {key}")
    data = as_bytes(raw)
    if as_json:
        output.print_json(raw_document(row, key, data))
    elif output.on_terminal():
        text = data.decode("utf-8", "backslashreplace")
        print("\n".join(output.clean(line) for line in text.splitlines()))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
