"""The end of one message and the binding of the next, for stores that have no shorter way than one by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from msgx_core.errors import Conflict
from msgx_core.model.proc import Binding, Holder, Turn


class Steps(Protocol):
    """The two methods of a store that are put together."""

    def finish(self, msg_id: int, now: datetime) -> bool:
        """`ports.store.Effects.finish`."""
        ...

    def bind(self, binding: Binding, now: datetime, *, as_head: bool = False) -> Holder | None:
        """`ports.store.Messages.bind`."""
        ...


def one_by_one(
    store: Steps, msg_id: int, following: Binding, now: datetime, meanwhile: Callable[[], None]
) -> Turn:
    """`ports.store.Effects.finish_then_bind` by its two steps."""
    done = store.finish(msg_id, now)
    meanwhile()
    try:
        return Turn(done, bound=True, holder=store.bind(following, now, as_head=True))
    except Conflict:
        return Turn(done, bound=False)
