"""Messages and their fate; why; replay."""

from __future__ import annotations

from typing import Annotated

from attrs import evolve
from litestar import Response
from litestar.params import JSONBody, QueryParameter

from msgx_app import backends
from msgx_app.answers.documents import message_story
from msgx_app.answers.explained import explained, explanation_document
from msgx_app.answers.previews import Previewer
from msgx_app.answers.raw import as_bytes, from_archive, stored_text
from msgx_app.answers.replays import replayed
from msgx_app.answers.texts import Texts
from msgx_app.answers.times import parse_instant
from msgx_app.container import pipeline_config_of
from msgx_app.http.office import Desk
from msgx_app.http.parameters import AfterId, Id, Limit, Reason, Replay, State, Text
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest, GivenOffice, acts, audit_of, page, reads, reply, results
from msgx_app.refusals import Missing
from msgx_core.ports.operations import MessageFilter, Row

Since = Annotated[
    str | None, QueryParameter(max_length=40, description="Taken in since then: ISO 8601, or 2h, 30m, 7d.")
]
MAX_PREVIEWS = 20


@reads("/messages", "Message", many=True)
async def list_messages(
    request: AnyRequest,
    office: GivenOffice,
    state_: State = None,
    reason: Text = None,
    type_: Annotated[str | None, QueryParameter(name="type", max_length=20)] = None,
    styp: Annotated[str | None, QueryParameter(max_length=20)] = None,
    flid: Annotated[int | None, QueryParameter(ge=1, le=999_999_999_999)] = None,
    since: Since = None,
    after: AfterId = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """Messages by `MSG_ID`. A reason matches whole, or up to its colon; `flid`: those that touched it."""
    where = MessageFilter(
        state=None if state_ is None else state_.value, reason=reason, type=type_, styp=styp, flid=flid
    )

    def fetch(desk: Desk, n: int) -> list[Row]:
        instant = None if since is None else parse_instant(since, desk.policy, desk.clock.now())
        return list(desk.store.messages(evolve(where, since=instant, after=after, limit=n)))

    return await page(office, request, limit, fetch, lambda row: row["MSG_ID"])


@reads("/failures", "Failures", many=True)
async def list_failures(office: GivenOffice, limit: Limit = 100) -> Response[bytes]:
    """Failed and dead messages by state, code and kind of reason; the group with the newest one first."""
    return await reply(office, lambda desk: list(desk.store.failures(limit)))


@reads("/messages/{msg_id:int}", "MessageStory")
async def show_message(office: GivenOffice, msg_id: Id) -> Response[bytes]:
    """One message with its whole story: fate, times, events, schedule log, alerts, operator actions."""
    return await reply(office, lambda desk: message_story(desk.store, _row(desk, msg_id)))


@reads("/messages/{msg_id:int}/raw", "Raw")
async def raw_message(office: GivenOffice, msg_id: Id) -> Response[bytes]:
    """Its text, byte for byte: the mailbox's, or else the archive's (then `X-Archive-Key` says which)."""
    key, data = await office.work(lambda desk: _raw(desk, msg_id))
    # Never as XML: a browser would run what it may hold.
    headers = {"Content-Disposition": f'attachment; filename="{msg_id}.xml"'}
    if key is not None:
        headers["X-Archive-Key"] = key
    return Response(data, media_type="application/octet-stream", headers=headers)


@reads("/messages/{msg_id:int}/explain", "Explanation")
async def explain_message(office: GivenOffice, msg_id: Id) -> Response[bytes]:
    """Why: each rule applied, in order, with its source, and the effect on each flight. Writes nothing."""

    def explain(desk: Desk) -> dict[str, object]:
        with Texts(desk) as texts:
            found = explained(desk, texts, msg_id)
            if found is None:
                raise _no_message(msg_id)
            return explanation_document(found, desk.policy)

    return await reply(office, explain)


@acts("/messages/{msg_id:int}/readmit", "Result", many=True)
async def readmit_message(
    request: AnyRequest, office: GivenOffice, msg_id: Id, data: JSONBody[Reason]
) -> Response[bytes]:
    """Let a message in that was skipped as a duplicate; it runs under its own identity (D-24)."""
    who = audit_of(request, data.reason)
    return await results(office, "MSG_ID", lambda desk: [desk.store.readmit(msg_id, who, desk.clock.now())])


@acts("/replay", "ResultOrPreview", many=True)
async def replay_messages(
    request: AnyRequest, office: GivenOffice, data: JSONBody[Replay]
) -> Response[bytes]:
    """Let failed and dead messages run again; with `dry_run` only the effect on today's state."""
    if data.from_archive and data.force:
        raise Problem(422, "force and from_archive do not go together")
    if data.dry_run:
        if len(data.ids) > MAX_PREVIEWS:
            raise Problem(422, f"at most {MAX_PREVIEWS} messages in one dry run")
        return await reply(office, lambda desk: _previews(desk, data))
    if data.reason is None:
        raise Problem(422, "reason: say why; it is kept in the audit")
    who = audit_of(request, data.reason)
    return await results(
        office,
        "MSG_ID",
        lambda desk: replayed(desk, data.ids, who, force=data.force, archived=data.from_archive),
    )


def _previews(desk: Desk, data: JSONBody[Replay]) -> list[dict[str, object]]:
    config = pipeline_config_of(desk.settings)
    codec = backends.open_codec(desk.settings)
    previewer = Previewer.on(desk.store, desk.inbox, codec, desk.clock, config)
    found = []
    for msg_id in dict.fromkeys(data.ids):
        row = desk.store.message(msg_id) if data.from_archive else None
        raw = None if row is None else from_archive(desk, row)[1]
        found.append(previewer.document(msg_id, force=data.force, raw=raw))
    return found


def _raw(desk: Desk, msg_id: int) -> tuple[str | None, bytes]:
    key, raw = stored_text(desk, _row(desk, msg_id), desk.inbox)
    return key, as_bytes(raw)


def _row(desk: Desk, msg_id: int) -> Row:
    row = desk.store.message(msg_id)
    if row is None:
        raise _no_message(msg_id)
    return row


def _no_message(msg_id: int) -> Missing:
    return Missing(f"there is no message {msg_id}: never taken in, or removed by retention")
