"""The raw texts of applied messages, for computing again: from the archive, else from the mailbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from msgx_app import archives, backends
from msgx_app.answers.parts import Base
from msgx_core.errors import ConfigError, Rejected, Transient
from msgx_core.pipeline.heads import is_blank
from msgx_core.ports import Archive, Inbox, RawText
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.operations import Row
from msgx_core.rules.policy_text import parse_grounds


class Texts:
    """Opens what it needs, makes nothing; a mailbox that does not answer only means that gaps stay gaps.

    `damaged` gets the key and the fault of each archived text that cannot be read.
    """

    def __init__(self, at: Base) -> None:
        self._at = at
        self._opened = ExitStack()
        self._archive: Archive | None = None
        self._inbox: Inbox | None = None
        self._asked_mailbox = False
        self.from_mailbox = 0
        self.damaged: Callable[[str, str], None] = lambda key, why: None

    def __enter__(self) -> Self:
        if self.no_archive is None:
            self._archive = archives.open_archive(self._at.settings, create=False)
        if self._archive is not None:
            self._opened.callback(self._archive.close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    @property
    def no_archive(self) -> str | None:
        """Why there is no archive; None: there is one."""
        url = self._at.settings.archive.url
        if url is None:
            return "msgx.archive.url is off"
        return None if url.path is None or url.path.is_dir() else f"{url.path} is no folder"

    def steps(self) -> Iterable[DepartureStep]:
        """What the history sweep has left in the archive."""
        return () if self._archive is None else self._archive.steps()

    def text(self, row: Row) -> RawText | None:
        """The text of a `PROC_STATE` row. Raises `Transient("archive")`."""
        found = None if self._archive is None else self._archived(self._archive, row)
        if found is not None:
            return found
        found = self._mailed(row["MSG_ID"])
        self.from_mailbox += found is not None
        return found

    def _archived(self, archive: Archive, row: Row) -> RawText | None:
        put_back = parse_grounds(row.get("COVERAGE")).raw
        key = put_back or archive.find(row["MSG_ID"], row.get("RECEIVED_AT") or row.get("ENQUEUED_AT"))
        try:
            found = None if key is None else archive.get(key)
        except Rejected as error:
            self.damaged(key or "", error.detail or error.reason)
            return None
        if key is not None and found is not None and is_blank(found):
            self.damaged(key, "a text of blanks")
            return None
        return found

    def _mailed(self, msg_id: int) -> RawText | None:
        inbox = self._mailbox()
        if inbox is None:
            return None
        try:
            raw = inbox.fetch(msg_id)
        except (Rejected, Transient):
            return None
        return None if is_blank(raw) else raw

    def _mailbox(self) -> Inbox | None:
        if not self._asked_mailbox:
            self._asked_mailbox = True
            try:
                self._inbox = backends.open_inbox(self._at.settings, self._at.clock)
            except (ConfigError, Transient):
                return None
            self._opened.callback(self._inbox.close)
        return self._inbox
