"""What an answer is made from."""

from __future__ import annotations

from attrs import frozen

from msgx_app.settings import Settings
from msgx_core.ports import Clock, Store
from msgx_core.rules.policy import Policy


@frozen
class Base:
    """Settings, the rules' choices and the clock."""

    settings: Settings
    policy: Policy
    clock: Clock


@frozen
class WithStore(Base):
    """The store is open."""

    store: Store
