"""From one message to the next: ③ and the binding of its follower in one round trip, two transactions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import attrs

from msgx_adapters.store_postgres.applying import ApplyingRole
from msgx_adapters.store_postgres.messages import MessageRole
from msgx_adapters.store_postgres.session import NO_EPOCH
from msgx_core.errors import Conflict
from msgx_core.model.proc import Binding, Holder, Turn
from msgx_core.ports.turns import one_by_one


class TurnRole(MessageRole, ApplyingRole):
    """What `ports.store.Messages` and `Effects` do together."""

    def finish_then_bind(
        self, msg_id: int, following: Binding, now: datetime, meanwhile: Callable[[], None]
    ) -> Turn:
        """Both at once; one by one where the server was not asked for them before on this connection.

        The second one binds the head alone: if the first is refused, its message is still the head.
        """
        epoch = NO_EPOCH if self.epoch is None else self.epoch
        finish: dict[str, Any] = {"msg_id": msg_id, "now": now, "epoch": epoch}
        bind = {**attrs.asdict(following, recurse=False), "as_head": True, "now": now, "epoch": epoch}
        both = (self.sql["finish"], finish), (self.sql["bind"], bind)
        answers = self.pool.two(*both, epoch=self.epoch, meanwhile=meanwhile)
        if answers is None:
            return one_by_one(self, msg_id, following, now, meanwhile)
        (finished,), bound = answers
        done = bool(finished["DONE"])
        if isinstance(bound, Conflict):
            return Turn(done, bound=False)
        holder = Holder(bound[0]["MSG_ID"], bound[0]["RAW_DIGEST"]) if bound else None
        return Turn(done, bound=True, holder=holder)
