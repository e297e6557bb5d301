"""The codec port: mailbox text to `DecodedMessage` (IMP §2, D-44)."""

from __future__ import annotations

from typing import Protocol

from msgx_core.errors import MessageError
from msgx_core.model.message import DecodedMessage

RawText = bytes | str
"""A text mailbox hands out `str` (its declaration is ignored), a binary one `bytes`."""


class Codec(Protocol):
    """Structure only: no value is parsed, no business rule is applied."""

    def decode(self, raw: RawText) -> DecodedMessage:
        """The decoded message.

        Raises `Malformed` with line and column, and one of the reasons `too-large:<bytes>` (UTF-8
        bytes above the limit), `bad-encoding`, `control-character`, `doctype-not-allowed`,
        `not-well-formed`, `wrong-root`, `meta-missing:<tag>`, `meta-invalid:<tag>`. Any other exception is
        a fault of the codec. Bytes are decoded by BOM, else by declaration (`gb2312` means GB18030),
        else as UTF-8. Time and memory are linear in the size.
        """
        ...

    def locate(self, raw: RawText, error: MessageError) -> None:
        """Fill in `error.line` (and `column` if known) from its `record`, `tag` and `ordinal`.

        Best effort, for text that `decode` accepted; never raises.
        """
        ...
