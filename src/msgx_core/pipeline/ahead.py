"""The next heads made ready: texts fetched together, each decoded beside the work on the one before it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile

from attrs import frozen

from msgx_core.errors import CodecError, MessageError
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import MessageState, ProcRow
from msgx_core.pipeline.heads import is_blank
from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import Inbox
from msgx_core.ports.telemetry import Telemetry

MOST = 32
"""Messages that are fetched together: few enough to be done in a moment."""

SMALL = 2**16
"""Bytes of a text that is fetched together with others; a longer one is fetched when its turn comes."""


@frozen
class Ready:
    """A text that was fetched and decoded before its turn."""

    raw: RawText
    message: DecodedMessage


@frozen
class Ahead:
    """Makes heads ready. While the store works on one message, the next is decoded in another thread."""

    inbox: Inbox
    decode: Callable[[RawText], DecodedMessage]
    telemetry: Telemetry

    def ready(self, heads: Sequence[ProcRow]) -> Generator[tuple[ProcRow, Ready]]:
        """Heads that nothing has happened to yet, in this order, with their texts.

        Ends before the first that is not to be had like that: too long, gone, not to be read or decoded, or
        tried before. To be closed when it is left early. Raises `Transient("mailbox")`.
        """
        fresh = list(takewhile(_is_fresh, heads))
        if len(fresh) < 2:
            return
        with self.telemetry.stage("fetch"):
            texts = self.inbox.fetch_small([head.msg_id for head in fresh], SMALL)
        raws = list(takewhile(lambda raw: not is_blank(raw), (texts.get(head.msg_id) for head in fresh)))
        with ThreadPoolExecutor(1, "decode") as beside:
            coming = beside.submit(self._decoded, raws[0]) if raws else None
            for head, following in zip(fresh, [*raws[1:], None], strict=False):
                ready = None if coming is None else coming.result()
                if ready is None:
                    return
                coming = None if following is None else beside.submit(self._decoded, following)
                yield head, ready

    def _decoded(self, raw: RawText | None) -> Ready | None:
        """None where it is not to be decoded: that is told when its turn comes."""
        try:
            return None if raw is None else Ready(raw, self.decode(raw))
        except (MessageError, CodecError):
            return None


def _is_fresh(head: ProcRow) -> bool:
    return head.state is MessageState.PENDING and not head.attempts and head.identity_key is None
