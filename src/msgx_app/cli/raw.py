"""The raw text of a message, byte for byte."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgx_app import archives, backends
from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.parts import Base
from msgx_app.settings import Settings
from msgx_core.pipeline.evidence import filed_at
from msgx_core.pipeline.heads import is_blank
from msgx_core.ports import Archive, RawText


def print_raw(at: Base, row: dict[str, Any], *, as_json: bool) -> None:
    """Write the text of a message, of the mailbox or else the archive; in JSON as `RAW` or `RAW_BASE64`."""
    msg_id = row["MSG_ID"]
    raw = from_mailbox(at, msg_id)
    if raw is None:
        key, raw = from_archive(at, row)
        output.note(f"message {msg_id}: not in the mailbox any more; this is the archive's {key}")
        row = {**row, "ARCHIVE_KEY": key}
    data = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    if as_json:
        output.print_json({**row, **_as_text(data)})
    elif output.on_terminal():
        text = data.decode("utf-8", "backslashreplace")
        print("\n".join(output.clean(line) for line in text.splitlines()))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


def from_mailbox(at: Base, msg_id: int) -> RawText | None:
    """The text that the mailbox has; None: no row, or an empty one."""
    inbox = backends.open_inbox(at.settings, at.clock)
    try:
        raw = inbox.fetch(msg_id)
    finally:
        inbox.close()
    return None if is_blank(raw) else raw


def from_archive(at: Base, row: Mapping[str, Any]) -> tuple[str, RawText]:
    """Key and text that the archive has of a message; `Negative` when it has none."""
    msg_id = row["MSG_ID"]
    with archive_of(at.settings) as archive:
        if archive is None:
            raise Negative(f"message {msg_id}: not in the mailbox any more, and msgx.archive.url is off")
        filed = filed_at(row.get("RECEIVED_AT"), row["ENQUEUED_AT"])
        key = archive.find(msg_id, filed) or archive.find(msg_id)
        raw = None if key is None else archive.get(key)
    if key is None or raw is None:
        raise Negative(f"message {msg_id}: neither mailbox nor archive has its text any more")
    return key, raw


@contextmanager
def archive_of(settings: Settings) -> Iterator[Archive | None]:
    """The archive, for reading."""
    archive = archives.open_archive(settings)
    try:
        yield archive
    finally:
        if archive is not None:
            archive.close()


def _as_text(data: bytes) -> dict[str, str]:
    try:
        return {"RAW": data.decode()}
    except UnicodeDecodeError:
        return {"RAW_BASE64": base64.b64encode(data).decode()}
