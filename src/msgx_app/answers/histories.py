"""The versions of a flight, each with the message behind it and what it changed."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_app import backends
from msgx_app.answers.parts import WithStore
from msgx_app.answers.previews import changes
from msgx_app.answers.texts import Texts
from msgx_app.refusals import Missing
from msgx_core.pipeline.history_of import History, Version, history_of
from msgx_core.pipeline.past import Past
from msgx_core.pipeline.recompute import Policies


@frozen
class Told:
    """The remembered versions as rows; `note` says what is not among them, None: nothing."""

    rows: list[dict[str, Any]]
    note: str | None = None


def versions(at: WithStore, texts: Texts, flid: int, *, quick: bool = False) -> Told:
    """Each remembered version with its message, and before and after of each tag where they are known.

    `quick`: those of the outbox alone, without computing all messages again.
    Raises `Missing` when nothing was ever heard of that flight.
    """
    policies = Policies.kept_in(at.store, at.policy, ZoneInfo)
    # Floors know when a flight left last. One that left before that too has a version without an event,
    # or two tombstones; only then are the sweep's own objects, which are many, looked at.
    events = at.store.flight_events(flid)
    left = [event["STATE_VERSION"] for event in events if event["PAYLOAD"].get("REASON") == "ARCHIVED"]
    seen = [event["STATE_VERSION"] for event in events]
    is_whole = seen == list(range(seen[0], seen[0] + len(seen))) if seen else True
    steps = texts.steps if len(left) > 1 or not is_whole else tuple
    codec = backends.open_codec(at.settings)
    found = history_of(
        flid,
        at.store,
        lambda world: Past(at.store, texts.text, codec, policies, steps, world),
        None if quick else lambda world: Past(at.store, texts.text, codec, policies, texts.steps, world),
    )
    if not found.versions and at.store.flight(flid) is None and found.left_as is None:
        raise Missing(f"there is no flight {flid}")
    return Told([_row(version, at) for version in found.versions], _note(flid, found))


def gone(at: WithStore, flid: int) -> str:
    """What is to be said of a flight that is not in the store."""
    left = at.store.floors().get(flid)
    if left is None:
        return f"there is no flight {flid}"
    return (
        f"flight {flid} left for the history store as version {left[0]}, {left[1]:%Y-%m-%d %H:%M:%S}Z; "
        "its history tells the versions"
    )


def _row(version: Version, at: WithStore) -> dict[str, Any]:
    message = {tag: version.message[tag] for tag in ("TYPE", "STYP", "SEQN") if tag in version.message}
    number = {"EVENT_ID": version.event["EVENT_ID"]} if "EVENT_ID" in version.event else {}
    row = {**number, **version.event["PAYLOAD"], **message, "SOURCE": version.source.value}
    if version.after is not None:
        row["VALUES"] = changes(version.before, version.after, at.policy)
    return row


def _note(flid: int, found: History) -> str | None:
    if found.whole:
        return None
    return (
        f"flight {flid} had other versions too: their events are gone (msgx.pipeline.event-retention), and "
        "messages or texts behind them as well, so they cannot be computed again"
    )
