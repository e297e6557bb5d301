"""Every port from outside: a service may be gone, a write be refused, and each commit is heard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from attrs import define

from msgx_core.errors import Rejected, Transient
from msgx_core.model.proc import Binding, Turn
from msgx_core.ports.turns import Steps, one_by_one
from tests.proof.oracle.hearing import HEARD

if TYPE_CHECKING:
    from tests.proof.plant.airport import Plant

Call = Callable[..., Any]


@define
class Tap:
    """Stands before a port. `changes` are the calls that change something: their answers may get lost."""

    port: Any
    plant: Plant
    service: str
    changes: Collection[str]

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.port, name)
        return self._tapped(name, value) if callable(value) else value

    def _tapped(self, name: str, real: Call) -> Call:
        def call(*args: Any, **more: Any) -> Any:
            if self.service in self.plant.down:
                raise Transient(self.service, "no connection")
            self.refuse(name, args)
            lost = self.plant.fuse.at_call() if name in self.changes else None
            if lost is not None:
                self.plant.tally.unanswered[f"{self.service}.{name}", lost.done] += 1
                if not lost.done:
                    raise Transient(self.service, "no connection")
            result = self.carry_out(name, real, args, more)
            if lost is not None:
                raise Transient(self.service, "the connection broke before the answer")
            return result

        return call

    def refuse(self, name: str, args: Sequence[Any]) -> None:
        """Raise where the service answers and refuses this one call."""

    def carry_out(self, name: str, real: Call, args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        """The call itself."""
        return real(*args, **more)


class StoreTap(Tap):
    """Tells oracle and watch what was committed."""

    def refuse(self, name: str, args: Sequence[Any]) -> None:
        if name == "apply" and self.plant.spoils("store", args[0].msg_id):
            raise self.plant.rejected("store-rejected:22001")

    def carry_out(self, name: str, real: Call, args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        if name == "head":
            head = real(*args, **more)
            self.plant.oracle.taken_in_hand(None if head is None else head.msg_id)
            return head
        if name == "heads":
            heads = real(*args, **more)
            self.plant.oracle.taken_in_hand(heads[0].msg_id if heads else None)
            return heads
        if name not in HEARD:
            return real(*args, **more)
        with self.plant.watch.watching(name) as seen:
            result = real(*args, **more)
            HEARD[name](self.plant.oracle, self.plant, result, *args, **more)
            seen(result, args)
        return result

    def finish_then_bind(
        self, msg_id: int, following: Binding, now: datetime, meanwhile: Callable[[], None]
    ) -> Turn:
        """As its two steps, so that trouble and oracle meet each."""
        return one_by_one(cast(Steps, self), msg_id, following, now, meanwhile)


class InboxTap(Tap):
    """Some rows cannot be read; every mark is heard of."""

    def refuse(self, name: str, args: Sequence[Any]) -> None:
        if name == "fetch" and self.plant.spoils("row", args[0]):
            raise self.plant.rejected("raw-unreadable")

    def carry_out(self, name: str, real: Call, args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        before = {row.msg_id: row.processed for row in self.plant.inbox.rows()}
        result = real(*args, **more)
        if name == "fetch_small":
            result = {i: raw for i, raw in result.items() if not self.plant.spoilt.get(("row", i))}
            self.plant.oracle.fetched_ahead(result)
        if name == "mark":
            for row in self.plant.inbox.rows():
                if row.processed != before[row.msg_id]:
                    self.plant.oracle.marked(row.msg_id)
        return result


class CodecTap(Tap):
    """The codec has a fault that some messages meet."""

    def refuse(self, name: str, args: Sequence[Any]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # ahead of its turn: what fails there is tried again when that comes
        head = self.plant.oracle.head()
        # The texts that are looked through for a request of ours are not messages.
        is_its = head is not None and head.sent is not None and args[0] == head.sent.raw
        if name == "decode" and head is not None and is_its and self.plant.spoils("codec", head.msg_id):
            self.plant.oracle.trouble = ("CODEC_ERROR", "codec-exception:ZeroDivisionError")
            raise ZeroDivisionError("a fault of the codec")


class CacheTap(Tap):
    """The cache refuses what some messages have for it; and it is heard to be made anew."""

    def refuse(self, name: str, args: Sequence[Any]) -> None:
        oracle = self.plant.oracle
        head = oracle.head()
        applied = head is not None and head.applied is not None and not oracle.keys_pending
        if name == "write" and head is not None and applied and self.plant.spoils("cache", head.msg_id):
            raise self.plant.rejected("cache-rejected")

    def carry_out(self, name: str, real: Call, args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        result = real(*args, **more)
        if name == "rebuild":
            self.plant.oracle.cache_rebuilt()
        return result


class BusTap(Tap):
    """What the bus took can be looked up."""

    def carry_out(self, name: str, real: Call, args: Sequence[Any], more: Mapping[str, Any]) -> Any:
        result = real(*args, **more)
        if name == "publish":
            self.plant.topics.read()
        return result


__all__ = ["BusTap", "CacheTap", "CodecTap", "InboxTap", "Rejected", "StoreTap", "Tap"]
