"""Why a message did what it did, as data."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from msgx_app import backends
from msgx_app.answers.parts import WithStore
from msgx_app.answers.previews import changes, reference_rows
from msgx_app.answers.records import record_changes
from msgx_app.answers.texts import Texts
from msgx_core.model.change import Change
from msgx_core.pipeline.explain import Explainer, Explanation
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.ref_lists import RefLists
from msgx_core.rules.policy import Policy

_FACTS = "MSG_ID TYPE STYP STATE ERROR_CODE REASON DETAIL APPLY_NO APPLIED_AT".split()


def explained(at: WithStore, texts: Texts, msg_id: int) -> Explanation | None:
    """One message decided again; None when there is none."""
    policies = Policies.kept_in(at.store, at.policy, ZoneInfo)
    codec = backends.open_codec(at.settings)
    explainer = Explainer(at.store, texts.text, codec, policies, at.clock.now(), steps=texts.steps)
    return explainer.explain(msg_id)


def explanation_document(found: Explanation, policy: Policy) -> dict[str, Any]:
    """An explanation as JSON."""
    policy = policy if found.policy is None else found.policy
    document: dict[str, Any] = {name: found.row.get(name) for name in _FACTS}
    document["RULES"] = [{"RULE": s.rule, "SOURCE": s.source, "RESULT": s.result} for s in found.steps]
    document |= {"BASIS": found.basis, "NOTE": found.note}
    if found.change is not None:
        document["FLIGHTS"] = [
            {
                "FLID": put.state.flid,
                "FROM_VERSION": put.read_version,
                "STATE_VERSION": put.state.version,
                "REASON": put.reason,
                "CHANGES": changes(found.before.get(put.state.flid), put.state, policy),
            }
            for put in found.change.flights
        ]
        document["REFERENCE"] = _reference(found.change, found.lists) or None
    return {name: value for name, value in document.items() if value is not None}


def _reference(change: Change, before: RefLists | None) -> list[dict[str, Any]]:
    """What it does to each list; where its past is lost, without what differs."""
    rows = reference_rows(change)
    if before is None:
        return rows
    found, lists = [], before.copied()
    for row, each in zip(rows, change.reference, strict=True):
        found.append({**row, "CHANGES": record_changes(each, lists)})
        lists.change(each)
    return found
