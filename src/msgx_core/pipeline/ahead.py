"""The next heads made ready: texts fetched together, each decoded beside the work on the one before it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import takewhile

from attrs import define, frozen

from msgx_core.errors import CodecError, MessageError
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import Binding, MessageState, ProcRow, Turn
from msgx_core.pipeline.desk import Decision
from msgx_core.pipeline.heads import is_blank
from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import Inbox
from msgx_core.ports.telemetry import Telemetry

MOST = 32
"""Messages that are fetched together: few enough to be done in a moment."""

SMALL = 2**16
"""Bytes of a text that is fetched together with others; a longer one is fetched when its turn comes."""


@define
class Ready:
    """A head made ready before its turn: fetched and decoded, and more while the one before it ended.

    `following()` is the next one, if it is ready by now. `turn` tells whether it is bound, `decision` what
    was decided about it when the memory had `age`.
    """

    head: ProcRow
    raw: RawText
    message: DecodedMessage
    binding: Binding
    following: Callable[[], Ready | None] = lambda: None
    turn: Turn | None = None
    decision: Decision | None = None
    age: int = -1


@frozen
class Ahead:
    """Makes heads ready. While the store works on one message, the next is decoded in another thread."""

    inbox: Inbox
    decode: Callable[[RawText], DecodedMessage]
    bound: Callable[[int, DecodedMessage, RawText], Binding]
    telemetry: Telemetry

    def ready(self, heads: Sequence[ProcRow]) -> Generator[Ready]:
        """Heads that nothing has happened to yet, in this order, with their texts.

        Ends before the first that is not to be had like that: too long, gone, not to be read or decoded, or
        tried before. To be closed when it is left early. Raises `Transient("mailbox")`.
        """
        fresh = list(takewhile(_is_fresh, heads))
        if len(fresh) < 2:
            return
        with self.telemetry.stage("fetch"):
            texts = self.inbox.fetch_small([head.msg_id for head in fresh], SMALL)
        there = list(takewhile(lambda head: not is_blank(texts.get(head.msg_id)), fresh))
        with ThreadPoolExecutor(1, "decode") as beside:
            coming = [beside.submit(self._made, head, texts[head.msg_id]) for head in there[:1]]
            for number in range(len(there)):
                ready = coming.pop().result()
                if ready is None:
                    return
                for head in there[number + 1 : number + 2]:
                    coming = [beside.submit(self._made, head, texts[head.msg_id])]
                    ready.following = partial(_if_done, coming[0])
                yield ready

    def _made(self, head: ProcRow, raw: RawText) -> Ready | None:
        """None where it is not to be decoded: that is told when its turn comes."""
        try:
            message = self.decode(raw)
            return Ready(head, raw, message, self.bound(head.msg_id, message, raw))
        except (MessageError, CodecError):
            return None


def _if_done(coming: Future[Ready | None]) -> Ready | None:
    return coming.result() if coming.done() else None


def _is_fresh(head: ProcRow) -> bool:
    return head.state is MessageState.PENDING and not head.attempts and head.identity_key is None
