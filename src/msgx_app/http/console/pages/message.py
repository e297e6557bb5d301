"""One message: what became of it and why, what it did, its text; letting a duplicate in."""

from __future__ import annotations

from typing import Annotated, Any, Final

from litestar import Response
from litestar.params import PathParameter

from msgx_app.answers.decoded import decoded
from msgx_app.answers.documents import message_story
from msgx_app.answers.explained import explained, explanation_document
from msgx_app.answers.raw import as_bytes, stored_text
from msgx_app.answers.texts import Texts
from msgx_app.http.console.desk import HEADERS, GivenConsole, shows, takes
from msgx_app.http.console.query import Query
from msgx_app.http.office import Desk
from msgx_app.http.parameters import MAX_ID, MIN_ID
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_app.refusals import Missing
from msgx_core.errors import Transient
from msgx_core.ports.operations import Row

VIEWS: Final = ("story", "effect", "decoded", "text")
SHOWN_BYTES: Final = 200_000
MessageId = Annotated[int, PathParameter(ge=MIN_ID, le=MAX_ID)]


@shows("/console/messages/{msg_id:int}")
async def message(request: AnyRequest, console: GivenConsole, msg_id: MessageId) -> Response[bytes]:
    """One of four views of it."""
    view = Query.of(request).choice("view", VIEWS) or VIEWS[0]

    def make(desk: Desk) -> dict[str, Any]:
        row = _row(desk, msg_id)
        found = {"row": row, "view": view, "views": VIEWS}
        match view:
            case "effect":
                return {**found, "effect": _effect(desk, msg_id)}
            case "story":
                return {**found, "story": message_story(desk.store, row)}
            case _:
                return {**found, **_text(desk, row, view)}

    return await console.show(request, "message.html", make)


@shows("/console/messages/{msg_id:int}/raw")
async def raw(console: GivenConsole, msg_id: MessageId) -> Response[bytes]:
    """Its text, byte for byte, to be saved: never shown by the browser as what it says it is."""
    data = await console.office.work(
        lambda desk: as_bytes(stored_text(desk, _row(desk, msg_id), desk.inbox)[1])
    )
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{msg_id}.xml"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


@takes("/console/messages/{msg_id:int}/readmit")
async def readmit(request: AnyRequest, console: GivenConsole, msg_id: MessageId) -> Response[bytes]:
    """Let a message in that was skipped as a duplicate (D-24)."""
    who = audit_of(request, (await console.form(request)).reason())
    return await console.act(
        request,
        lambda desk: [desk.store.readmit(msg_id, who, desk.clock.now())],
        done="readmit",
        back=f"/console/messages/{msg_id}",
    )


def _effect(desk: Desk, msg_id: int) -> dict[str, Any]:
    with Texts(desk) as texts:
        found = explained(desk, texts, msg_id)
        return {} if found is None else explanation_document(found, desk.policy)


def _text(desk: Desk, row: Row, view: str) -> dict[str, Any]:
    """What is gone, or a mailbox that does not answer, is told on the page: the rest of it is still good."""
    try:
        key, text = stored_text(desk, row, desk.inbox)
    except (Missing, Transient) as error:
        return {"problem": str(error), "text": None, "decoded": None}
    data = as_bytes(text)
    if view == "decoded":
        return {"problem": None, "text": None, "decoded": decoded(data, desk.settings)}
    shown = data[:SHOWN_BYTES].decode("utf-8", "replace")
    cut = len(data) - SHOWN_BYTES
    return {
        "problem": None,
        "text": shown,
        "size": len(data),
        "cut": max(0, cut),
        "key": key,
        "decoded": None,
    }


def _row(desk: Desk, msg_id: int) -> Row:
    row = desk.store.message(msg_id)
    if row is None:
        raise Missing(f"there is no message {msg_id}: never taken in, or removed by retention")
    return row
