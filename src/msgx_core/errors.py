"""The one tree of errors; adapters translate their drivers' errors into it (D-04, D-25)."""

from __future__ import annotations

from collections.abc import Iterable


class MsgxError(Exception):
    """Root of everything msgx raises on purpose."""


class MessageError(MsgxError):
    """A fault of one message: `reason` is one of the closed list of D-25, `detail` says where.

    `record`, `tag` and `ordinal` point into the message (0-based record, tag, 0-based repetition) so
    that a codec can add line and column; `line` and `column` are 1-based and None when not known.
    """

    code = "PROTOCOL"

    def __init__(
        self,
        reason: str,
        *,
        flid: int | None = None,
        tag: str | None = None,
        text: str | None = None,
        record: int | None = None,
        ordinal: int = 0,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.flid = flid
        self.tag = tag
        self.text = text
        self.record = record
        self.ordinal = ordinal
        self.line = line
        self.column = column

    @property
    def detail(self) -> str | None:
        """The place in words: line, column, record, flight, tag and the offending text, as known."""
        parts = [
            None if self.line is None else f"line {self.line}",
            None if self.column is None else f"column {self.column}",
            None if self.record is None else f"record {self.record + 1}",
            None if self.flid is None else f"flight {self.flid}",
            None if self.tag is None else f"tag {self.tag}",
            None if self.text is None else f"text {self.text[:80]!r}",
        ]
        return ", ".join(p for p in parts if p) or None


class Malformed(MessageError):
    """The message is not legal XML or not legal for its kind: dead at once (IMP §5.2, D-25)."""

    code = "MALFORMED"


class Protocol(MessageError):
    """The package breaks the protocol: dead at once, nothing of it is written (INV-4, D-12)."""

    code = "PROTOCOL"


class CodecError(MsgxError):
    """An unexpected exception inside our own decoding or rules: retried with back-off (H-06)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Rejected(MsgxError):
    """A service answered, and refuses this one row: counts an attempt (`FAILED(INFRA)`, D-04).

    `reason` is `raw-unreadable`, `store-rejected:<code>` or `cache-rejected`, and for a mark or a message
    that the mailbox refuses `mailbox-rejected`.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__(reason if detail is None else f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Transient(MsgxError):
    """A service cannot be reached or refuses all work: wait, count nothing (D-04).

    `service` is `mailbox`, `store`, `cache`, `bus`, `history` or `archive`.
    """

    def __init__(self, service: str, detail: str) -> None:
        super().__init__(f"{service} does not answer: {detail}")
        self.service = service
        self.detail = detail


class Conflict(MsgxError):
    """What was read has changed before it was written: read again, decide again (D-02)."""


class Fenced(MsgxError):
    """Another instance holds the epoch: this one steps down (D-34)."""

    def __init__(self, epoch: int, current: int) -> None:
        super().__init__(f"epoch {epoch} is over, the store is at {current}")
        self.epoch = epoch
        self.current = current


class Late(MsgxError):
    """A write to the mailbox did not begin while it may: nothing more was written (D-34)."""


class ConfigError(MsgxError):
    """The configuration cannot be used; all problems at once."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        super().__init__("\n".join(self.problems))
