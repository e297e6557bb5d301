"""The flight board, one flight, its versions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated

from litestar import Response
from litestar.params import QueryParameter

from msgx_app.answers.documents import document
from msgx_app.answers.histories import gone, versions
from msgx_app.answers.texts import Texts
from msgx_app.answers.times import parse_day
from msgx_app.http.office import Desk, to_json
from msgx_app.http.parameters import AfterId, Flight, Limit, Status
from msgx_app.http.replies import JSON, AnyRequest, GivenOffice, next_link, reads, reply
from msgx_app.refusals import Missing
from msgx_core.model.flight import FlightState

_REVALIDATE = "no-cache"
Day = Annotated[str | None, QueryParameter(max_length=10, description="Operation day: YYYY-MM-DD or today.")]


@reads("/flights", "Flight", many=True)
async def list_flights(
    request: AnyRequest,
    office: GivenOffice,
    day: Day = None,
    state_: Status = None,
    after: AfterId = None,
    limit: Limit = 100,
) -> Response[bytes]:
    """Whole flights by `FLID`. The `ETag` changes with any version in the page (`If-None-Match`: 304)."""

    def fetch(desk: Desk) -> Sequence[FlightState]:
        wanted = None if day is None else parse_day(day, desk.policy, desk.clock.now())
        status = None if state_ is None else state_.value
        return desk.store.flights(wanted, status, after or 0, limit + 1)

    found = await office.work(fetch)
    tag = _tag_of(found)
    more = next_link(request, found[limit - 1].flid) if len(found) > limit else {}
    if _is_held(request, tag):
        return _unchanged(tag)
    body = await office.json(lambda desk: [document(flight, desk.policy) for flight in found[:limit]])
    return Response(body, media_type=JSON, headers={**_kept(tag), **more})


@reads("/flights/{flid:int}", "Flight")
async def show_flight(request: AnyRequest, office: GivenOffice, flid: Flight) -> Response[bytes]:
    """One flight's full state, deleted ones too. Its `ETag` follows `STATE_VERSION`; held: 304."""
    flight = await office.work(lambda desk: _flight(desk, flid))
    tag = _tag_of([flight])
    if _is_held(request, tag):
        return _unchanged(tag)
    body = await office.work(lambda desk: to_json(document(flight, desk.policy)))
    return Response(body, media_type=JSON, headers=_kept(tag))


@reads("/flights/{flid:int}/history", "FlightVersion", many=True)
async def flight_history(office: GivenOffice, flid: Flight) -> Response[bytes]:
    """Its versions, each with the message behind it, as far as outbox and archive remember."""

    def history(desk: Desk) -> list[dict[str, object]]:
        with Texts(desk) as texts:
            return versions(desk, texts, flid).rows

    return await reply(office, history)


def _flight(desk: Desk, flid: int) -> FlightState:
    state = desk.store.flight(flid)
    if state is None:
        raise Missing(gone(desk, flid))
    return state


def _tag_of(flights: Sequence[FlightState]) -> str:
    """Versions never come again (D-37); `LAST_MSG_ID` moves without them where nothing differs (D-15)."""
    if len(flights) == 1:
        return f'"{flights[0].flid}.{flights[0].version}.{flights[0].last_msg_id}"'
    told = ",".join(f"{each.flid}.{each.version}.{each.last_msg_id}" for each in flights)
    return f'"{hashlib.sha256(told.encode()).hexdigest()[:32]}"'


def _is_held(request: AnyRequest, tag: str) -> bool:
    held = request.headers.get("if-none-match", "")
    return held.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in held.split(",")}


def _unchanged(tag: str) -> Response[bytes]:
    return Response(b"", status_code=304, headers=_kept(tag))


def _kept(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Cache-Control": _REVALIDATE}
