"""One flight: its state by groups of tags, its family, what waits to be sent; its versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from litestar import Response
from litestar.params import PathParameter

from msgx_app.answers.board import Line, line_of
from msgx_app.answers.histories import versions
from msgx_app.answers.texts import Texts
from msgx_app.http.console.desk import GivenConsole, shows
from msgx_app.http.console.query import Query
from msgx_app.http.office import Desk
from msgx_app.http.replies import AnyRequest
from msgx_app.refusals import Missing
from msgx_core.errors import Transient
from msgx_core.model.events import EventStatus, Target
from msgx_core.model.flight import Child, FlightState
from msgx_core.model.proc import UNFINISHED_STATES
from msgx_core.model.sis import COLLECTIONS, SCALARS, SINGLES, Kind
from msgx_core.ports.operations import MessageFilter, Row
from msgx_core.rules.operation_day import instant_of
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time

VIEWS: Final = ("state", "history")
MOST_VERSIONS: Final = 200
RECENT: Final = 8
_UNFINISHED: Final = tuple(state.value for state in UNFINISHED_STATES)
_OWED: Final = (EventStatus.PENDING.value, EventStatus.DEAD.value)
Flid = Annotated[int, PathParameter(ge=1, le=999_999_999_999)]


@shows("/console/flights/{flid:int}")
async def flight(request: AnyRequest, console: GivenConsole, flid: Flid) -> Response[bytes]:
    """One of two views of it; of one that has left what is still known."""
    view = Query.of(request).choice("view", VIEWS) or VIEWS[0]

    def make(desk: Desk) -> dict[str, Any]:
        state = desk.store.flight(flid)
        told = {"flid": flid, "view": view, "views": VIEWS, "state": state}
        if state is None:
            return {**told, **_gone(desk, flid)}
        told |= {"line": line_of(state, desk.policy), "left": None, "messages": ()}
        if view == "history":
            return {**told, **_history(desk, flid)}
        return {**told, **_now(desk, state)}

    return await console.show(request, "flight.html", make)


def _gone(desk: Desk, flid: int) -> dict[str, Any]:
    """A flight that has left the store: its last version, messages and versions as far as they are known."""
    floor = desk.store.floors(flid).get(flid)
    messages = desk.store.messages(MessageFilter(flid=flid, newest=True, limit=RECENT))
    if floor is None and not messages and not desk.store.flight_events(flid):
        raise Missing(
            f"there is no flight {flid}: no message has brought it, or retention has removed all of it"
        )
    return {"line": None, "left": floor, "messages": messages, **_history(desk, flid)}


def _now(desk: Desk, state: FlightState) -> dict[str, Any]:
    store = desk.store
    events = store.flight_events(state.flid)
    full = store.flight_events(state.flid, Target.SCHD.value)
    waiting = [row for row in (*events, *full) if row["STATUS"] in _OWED]
    last = store.message(state.last_msg_id)
    main, others = _family(desk, state)
    return {
        "groups": _groups(state, desk.policy),
        "lists": _lists(state, desk.policy),
        "sections": store.raw_sections(state.flid),
        "main": main,
        "others": others,
        "waiting": waiting[-MOST_VERSIONS:],
        "waiting_count": len(waiting),
        "writing": last is not None and last["STATE"] in _UNFINISHED,
        "recent": [dict(row) for row in reversed(events[-RECENT:])],
    }


def _family(desk: Desk, state: FlightState) -> tuple[Line | None, Sequence[Child]]:
    """Its main flight, if that is there, and the other live flights that share it."""
    flid = state.main_flid
    main = None if flid is None else desk.store.flight(flid)
    head = state if main is None else main
    others = [child for child in head.mafl if child.flid != state.flid]
    return None if main is None else line_of(main, desk.policy), others


def _groups(state: FlightState, policy: Policy) -> list[tuple[str, list[tuple[str, str, datetime | None]]]]:
    """Scalars and single elements by the groups of the tag tables: tag, text, and the instant of a time."""
    found: dict[str, list[tuple[str, str, datetime | None]]] = {}
    for tag, scalar in SCALARS.items():
        if tag in state.fields:
            text = str(state.fields[tag])
            at = _instant(text, policy) if scalar.kind is Kind.TIME else None
            found.setdefault(scalar.group, []).append((tag, text, at))
    for tag in SINGLES:
        value = state.fields.get(tag)
        if isinstance(value, Mapping):
            text = "  ".join(f"{key} {each}" for key, each in value.items()) or "✓"
            found.setdefault("leg and operation", []).append((tag, text, None))
    return list(found.items())


def _lists(state: FlightState, policy: Policy) -> list[dict[str, Any]]:
    """Collections as tables: the keys that have a value, and of each element text and instant by key."""
    found = []
    for tag, spec in COLLECTIONS.items():
        value = state.fields.get(tag)
        if not isinstance(value, tuple):
            continue
        kinds = {**spec.attributes, **spec.keys}
        keys = list(dict.fromkeys(key for element in value for key in element))
        rows = [
            [_cell(element.get(key, ""), kinds.get(key) is Kind.TIME, policy) for key in keys]
            for element in value
        ]
        found.append({"tag": tag, "keys": keys, "rows": rows})
    return found


def _cell(text: str, is_time: bool, policy: Policy) -> tuple[str, datetime | None]:
    return text, _instant(text, policy) if is_time else None


def _instant(text: str, policy: Policy) -> datetime | None:
    local = parse_time(text)
    return None if local is None else instant_of(local, policy)


def _history(desk: Desk, flid: int) -> dict[str, Any]:
    """The newest version first. An archive that does not answer is told: all else is still good."""
    try:
        with Texts(desk) as texts:
            rows = versions(desk, texts, flid, quick=True).rows
    except Transient as error:
        return {"versions": [], "older": 0, "first": None, "problem": str(error)}
    shown = [_version(row) for row in reversed(rows[-MOST_VERSIONS:])]
    first = rows[0]["STATE_VERSION"] if rows else None
    return {"versions": shown, "older": len(rows) - len(shown), "first": first, "problem": None}


def _version(row: Row) -> dict[str, Any]:
    at = row.get("UPDATED_AT")
    return {**row, "AT": None if at is None else datetime.fromisoformat(at)}
