"""Opening what a command needs and no more: an outage elsewhere must not stop it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen

from msgx_app import backends
from msgx_app.answers.parts import Base, WithStore
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common
from msgx_app.container import policy_of
from msgx_core.ports import Inbox

__all__ = ["Base", "WithInbox", "WithStore", "base", "with_inbox", "with_store"]


@frozen
class WithInbox(Base):
    """The mailbox is open for sending."""

    inbox: Inbox


def base(common: Common) -> Base:
    """Settings alone; nothing is opened."""
    settings = common.load().settings
    return Base(settings, policy_of(settings), backends.system_clock())


@contextmanager
def with_store(common: Common) -> Iterator[WithStore]:
    """The store, closed at the end. Raises `ConfigError` or `Transient`."""
    at = base(common)
    store = backends.open_store(at.settings, at.clock)
    try:
        yield WithStore(at.settings, at.policy, at.clock, store)
    finally:
        store.close()


@contextmanager
def with_inbox(common: Common) -> Iterator[WithInbox]:
    """The mailbox, for sending; refused on a shadow instance (D-42)."""
    at = base(common)
    if not at.settings.mailbox.write_enabled:
        raise Negative("refused: msgx.mailbox.write-enabled = false, nothing is written into this mailbox")
    inbox = backends.open_inbox(at.settings, at.clock)
    try:
        yield WithInbox(at.settings, at.policy, at.clock, inbox)
    finally:
        inbox.close()
