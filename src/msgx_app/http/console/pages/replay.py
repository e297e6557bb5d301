"""Replay: first what it would do today, then, with a reason, the deed."""

from __future__ import annotations

from typing import Any

from litestar import Response

from msgx_app import backends
from msgx_app.answers.previews import Previewer
from msgx_app.answers.raw import from_archive
from msgx_app.answers.replays import replayed
from msgx_app.container import pipeline_config_of
from msgx_app.http.console.desk import GivenConsole, takes
from msgx_app.http.office import Desk
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, audit_of
from msgx_app.http.routes.messages import MAX_PREVIEWS
from msgx_app.refusals import Missing
from msgx_core.rules.replay import HOPELESS


@takes("/console/messages/replay")
async def replay(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """`step` is preview or do."""
    form = await console.form(request)
    ids = form.ids()
    force, archived = form.one("force") == "1", form.one("archive") == "1"
    if force and archived:
        raise Problem(422, "force and archive do not go together")
    if form.one("step") != "do":
        if len(ids) > MAX_PREVIEWS:
            raise Problem(422, f"at most {MAX_PREVIEWS} messages in one dry run")
        return await console.show(
            request,
            "replay.html",
            lambda desk: {
                "previews": _previews(desk, ids, force=force, archived=archived),
                "force": force,
                "archived": archived,
                "has_archive": desk.settings.archive.url is not None,
            },
        )
    who = audit_of(request, form.reason())
    back = f"/console/messages/{ids[0]}" if len(ids) == 1 else "/console/messages"
    return await console.act(
        request,
        lambda desk: replayed(desk, ids, who, force=force, archived=archived),
        done="replay",
        back=back,
    )


def _previews(desk: Desk, ids: list[int], *, force: bool, archived: bool) -> list[dict[str, Any]]:
    config = pipeline_config_of(desk.settings)
    previewer = Previewer.on(desk.store, desk.inbox, backends.open_codec(desk.settings), desk.clock, config)
    found = []
    for msg_id in ids:
        row = desk.store.message(msg_id)
        if row is None:
            raise Missing(f"there is no message {msg_id}")
        raw = from_archive(desk, row)[1] if archived else None
        found.append({"row": row, **_in_our_words(previewer.document(msg_id, force=force, raw=raw))})
    return found


def _in_our_words(document: dict[str, Any]) -> dict[str, Any]:
    """`HOPELESS` when only force gets past the refusal: here that is a button and no option."""
    refused = document.get("REFUSED")
    if refused is None:
        return document
    hopeless = refused.endswith(HOPELESS)
    return {**document, "REFUSED": refused.removesuffix(HOPELESS), "HOPELESS": hopeless}
