"""From one message to the next: ③ and the binding of its follower."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgx_adapters.store_sqlite.applying import ApplyingRole
from msgx_adapters.store_sqlite.messages import MessageRole
from msgx_core.model.proc import Binding, Turn
from msgx_core.ports.turns import one_by_one


class TurnRole(MessageRole, ApplyingRole):
    """What `ports.store.Messages` and `Effects` do together."""

    def finish_then_bind(
        self, msg_id: int, following: Binding, now: datetime, meanwhile: Callable[[], None]
    ) -> Turn:
        """One by one: nothing is gained by asking for both at once in one process."""
        return one_by_one(self, msg_id, following, now, meanwhile)
