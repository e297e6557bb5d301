"""The versions of a flight, each with the message behind it and what it changed."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from msgx_app import backends
from msgx_app.answers.parts import WithStore
from msgx_app.answers.previews import changes
from msgx_app.answers.texts import Texts
from msgx_core.pipeline.history_of import versions_of
from msgx_core.pipeline.past import Past
from msgx_core.pipeline.recompute import Policies


def versions(at: WithStore, texts: Texts, flid: int) -> list[dict[str, Any]]:
    """Each remembered version with its message, and before and after of each tag where they are known."""
    policies = Policies.kept_in(at.store, at.policy, ZoneInfo)
    # Floors know when a flight left last. One that left before that too has a version without an event,
    # or two tombstones; only then are the sweep's own objects, which are many, looked at.
    events = at.store.flight_events(flid)
    left = [event["STATE_VERSION"] for event in events if event["PAYLOAD"].get("REASON") == "ARCHIVED"]
    seen = [event["STATE_VERSION"] for event in events]
    is_whole = seen == list(range(seen[0], seen[0] + len(seen))) if seen else True
    steps = texts.steps if len(left) > 1 or not is_whole else tuple
    past = Past(at.store, texts.text, backends.open_codec(at.settings), policies, steps)
    rows = []
    for version in versions_of(flid, past):
        message = {tag: version.message[tag] for tag in ("TYPE", "STYP", "SEQN") if tag in version.message}
        row = {"EVENT_ID": version.event["EVENT_ID"], **version.event["PAYLOAD"], **message}
        if version.after is not None:
            row["VALUES"] = changes(version.before, version.after, at.policy)
        rows.append(row)
    return rows
