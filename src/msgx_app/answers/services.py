"""Does each service answer? Asked all at once, each within its own time, the culprit named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from attrs import define, evolve, field, frozen

from msgx_app import archives, backends, histories, outbounds
from msgx_app.settings import Settings, Url
from msgx_core.errors import ConfigError, Transient
from msgx_core.pipeline.selfcheck import check_each
from msgx_core.ports import Archive, Clock, Inbox, Store

_GRACE_S = 1.0


@frozen
class Answer:
    """What came of asking one service; `error` None: it answered. `at`: when that was known."""

    service: str
    url: str
    error: str | None = None
    misconfigured: bool = False
    at: datetime | None = None

    @property
    def row(self) -> dict[str, Any]:
        """For printing."""
        return {
            "SERVICE": self.service,
            "URL": self.url,
            "OK": self.error is None,
            "ERROR": self.error,
            "AT": self.at,
        }


@define
class _Asked:
    """One service being asked in a thread of its own."""

    service: str
    url: Url
    timeout: timedelta
    open_it: Callable[[], Any]
    part: Any = None
    error: Exception | None = None
    at: datetime | None = None
    done: threading.Event = field(factory=threading.Event)

    def ask(self, clock: Clock) -> None:
        """Open and ping."""
        try:
            self.part = self.open_it()
            self.part.ping()
            if self.service == "bus":
                self.part.check_topics()
        except Exception as error:
            self.error = error
        finally:
            self.at = clock.now()
            self.done.set()

    def answer(self) -> Answer:
        """Wait for the end; a service that says nothing in time does not answer."""
        # Opening and asking may each take the whole time.
        limit_s = 2 * self.timeout.total_seconds() + _GRACE_S
        if not self.done.wait(limit_s):
            return Answer(self.service, str(self.url), f"no answer within {limit_s:g} s")
        match self.error:
            case None:
                return Answer(self.service, str(self.url))
            case ConfigError(problems=problems):
                return Answer(self.service, str(self.url), "; ".join(problems), misconfigured=True)
            case Transient(detail=detail):
                return Answer(self.service, str(self.url), detail)
            case error:
                return Answer(self.service, str(self.url), f"{type(error).__name__}: {error}")


@frozen
class Asked:
    """All answers, and the parts that could be used from there on."""

    answers: Sequence[Answer]
    store: Store | None
    inbox: Inbox | None


def _archive(settings: Settings) -> Archive | None:
    return archives.open_archive(settings, timeout_s=archives.WRITING_TIMEOUT_S)


def _mailbox(settings: Settings, clock: Clock) -> Inbox:
    """The way in; where we are to write, the way out and our rights are looked at as well."""
    outbound = outbounds.open_outbound(settings, clock)
    if outbound is None:
        return backends.open_inbox(settings, clock)
    with closing(outbound), ExitStack() as opened:
        inbox = opened.enter_context(closing(backends.open_inbox(settings, clock)))
        check_each((inbox.check_rights, outbound.check_rights))
        opened.pop_all()
    return inbox


def ask_all(settings: Settings, clock: Clock, opened: ExitStack) -> Asked:
    """Open and ping every service at the same time; `opened` closes them."""
    timeouts = settings.timeouts
    asked = [
        _Asked("store", settings.store.url, timeouts.store, lambda: backends.open_store(settings, clock)),
        _Asked("mailbox", settings.mailbox.url, timeouts.mailbox, lambda: _mailbox(settings, clock)),
        _Asked("cache", settings.cache.url, timeouts.cache, lambda: backends.open_cache(settings, clock)),
        _Asked("bus", settings.bus.url, timeouts.bus, lambda: backends.open_bus(settings, clock)),
    ]
    if settings.archive.url is not None:
        limit = timedelta(seconds=archives.WRITING_TIMEOUT_S)
        asked.append(_Asked("archive", settings.archive.url, limit, lambda: _archive(settings)))
    if settings.history.url is not None:
        asked.append(
            _Asked(
                "history", settings.history.url, timeouts.history, partial(histories.open_history, settings)
            )
        )
    for one in asked:
        # A daemon thread: a driver that hangs must not keep the command from ending.
        threading.Thread(target=one.ask, args=(clock,), name=f"ask-{one.service}", daemon=True).start()
    answers = [evolve(one.answer(), at=one.at or clock.now()) for one in asked]
    for one, answer in zip(asked, answers, strict=True):
        if one.done.is_set() and one.part is not None:
            opened.callback(one.part.close)
        if answer.error is not None:
            one.part = None
    return Asked(answers, store=asked[0].part, inbox=asked[1].part)
