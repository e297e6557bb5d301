"""How everything is, and what needs somebody."""

from __future__ import annotations

from typing import Any

from litestar import Response

from msgx_app.answers.services import Asked
from msgx_app.answers.status import gather
from msgx_app.http.console.desk import GivenConsole, shows
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest

ENTRY = Entry("overview", "/console", "now")


@shows("/console")
async def overview(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """The first page."""

    def make(desk: Desk) -> dict[str, Any]:
        asked = Asked(console.watch.services.answers(), store=desk.store, inbox=None)
        return {"status": gather(asked, desk.clock.now())}

    return await console.show(request, "overview.html", make)
