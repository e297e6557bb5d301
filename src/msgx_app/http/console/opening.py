"""The console put together: its door, its routes, and what looks on in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from attrs import frozen

from msgx_app.answers.advice import load_advice
from msgx_app.http.access import TokenBook
from msgx_app.http.console.desk import Console
from msgx_app.http.console.door import ConsoleDoor
from msgx_app.http.console.entry import entry_handlers
from msgx_app.http.console.pulse import Pulse
from msgx_app.http.console.refusing import Refuser
from msgx_app.http.console.render import Renderer
from msgx_app.http.console.static import load_static, static_handlers
from msgx_app.http.console.table import modules
from msgx_app.http.console.visits import Sessions
from msgx_app.http.office import Office
from msgx_app.http.replies import handlers_in
from msgx_app.http.watch import Watch


@frozen
class Opened:
    """What the application needs of the console."""

    console: Console
    door: ConsoleDoor
    refuser: Refuser
    handlers: Sequence[Any]

    @asynccontextmanager
    async def looking_on(self, app: object) -> AsyncIterator[None]:
        """As long as the application runs."""
        looking = asyncio.ensure_future(self.console.pulse.run())
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking


def open_console(office: Office, watch: Watch, pulse: Pulse, book: TokenBook, *, loopback: bool) -> Opened:
    """All of it."""
    static = load_static()
    sessions = Sessions(office.clock)
    advice = load_advice()
    renderer = Renderer(office.policy, office.clock, static, advice, airport=office.settings.airport.code)
    console = Console(office, watch, sessions, renderer, pulse)
    refuser = Refuser(console, advice)
    door = ConsoleDoor(book, sessions, refuser.send, loopback=loopback)
    pages = [handler for module in modules() for handler in handlers_in(vars(module))]
    return Opened(console, door, refuser, [*entry_handlers(book, door), static_handlers(static), *pages])
