"""The raw text of a message, byte for byte, as mailbox or archive have it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgx_app import archives, backends
from msgx_app.answers.parts import Base
from msgx_app.refusals import Missing
from msgx_app.settings import Settings
from msgx_core.pipeline.evidence import filed_at
from msgx_core.pipeline.heads import is_blank
from msgx_core.ports import Archive, Inbox, RawText


def stored_text(at: Base, row: Mapping[str, Any], inbox: Inbox | None = None) -> tuple[str | None, RawText]:
    """The text of a message, and its key when it is the archive's; the mailbox is asked first.

    `inbox` takes the place of one that is opened for this. Raises `Missing` when neither has it.
    """
    raw = from_mailbox(at, row["MSG_ID"], inbox)
    return from_archive(at, row) if raw is None else (None, raw)


def as_bytes(raw: RawText) -> bytes:
    """The bytes of a text."""
    return raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw


def raw_document(row: Mapping[str, Any], key: str | None, data: bytes) -> dict[str, Any]:
    """A message's row with its text as `RAW`, or `RAW_BASE64` where it is no UTF-8."""
    about = dict(row) if key is None else {**row, "ARCHIVE_KEY": key}
    try:
        return {**about, "RAW": data.decode()}
    except UnicodeDecodeError:
        return {**about, "RAW_BASE64": base64.b64encode(data).decode()}


def from_mailbox(at: Base, msg_id: int, inbox: Inbox | None = None) -> RawText | None:
    """The text that the mailbox has; None: no row, or an empty one."""
    opened = backends.open_inbox(at.settings, at.clock) if inbox is None else inbox
    try:
        raw = opened.fetch(msg_id)
    finally:
        if inbox is None:
            opened.close()
    return None if is_blank(raw) else raw


def from_archive(at: Base, row: Mapping[str, Any]) -> tuple[str, RawText]:
    """Key and text that the archive has of a message; `Missing` when it has none."""
    msg_id = row["MSG_ID"]
    with archive_of(at.settings) as archive:
        if archive is None:
            raise Missing(f"message {msg_id}: not in the mailbox any more, and msgx.archive.url is off")
        filed = filed_at(row.get("RECEIVED_AT"), row["ENQUEUED_AT"])
        key = archive.find(msg_id, filed) or archive.find(msg_id)
        raw = None if key is None else archive.get(key)
    if key is None or raw is None:
        raise Missing(f"message {msg_id}: neither mailbox nor archive has its text any more")
    if is_blank(raw):
        raise Missing(f"message {msg_id}: not in the mailbox any more, and the archive's {key} is empty")
    return key, raw


@contextmanager
def archive_of(settings: Settings) -> Iterator[Archive | None]:
    """The archive, for reading."""
    archive = archives.open_archive(settings, create=False)
    try:
        yield archive
    finally:
        if archive is not None:
            archive.close()
