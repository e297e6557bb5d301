"""`msgx explain`: each rule applied to a message, with its source, and the effect on each flight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.messages import MsgId
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import WithStore, with_store

if TYPE_CHECKING:
    from msgx_app.cli.texts import Texts
    from msgx_core.pipeline.explain import Explanation

RULES = "RULE SOURCE RESULT".split()
EFFECTS = "FLID VERSION TAG BEFORE AFTER".split()
_FACTS = "MSG_ID TYPE STYP STATE ERROR_CODE REASON DETAIL APPLY_NO APPLIED_AT".split()


@command("msgx explain 5", "msgx explain 5 --json")
def explain(msg_id: MsgId, common: Common) -> None:
    """Why: each rule applied to this message, in order, with its source, and what it did to each flight.

    The message is decided again on the state before it, as far as events and archive reach back; where they
    do not, on today's state, and it says so. Nothing is written.
    """
    from msgx_app.cli.texts import Texts

    with with_store(common) as at, Texts(at) as texts:
        found = _explained(at, texts, msg_id)
        if found is None:
            raise Negative(f"there is no message {msg_id}: never taken in, or removed by retention")
        document = _document(found, at)
    if common.as_json:
        output.print_json(document)
    else:
        _print(document)


def _explained(at: WithStore, texts: Texts, msg_id: int) -> Explanation | None:
    from zoneinfo import ZoneInfo

    from msgx_app import backends
    from msgx_core.pipeline.explain import Explainer
    from msgx_core.pipeline.recompute import Policies

    policies = Policies(at.policy, at.store.pins(), ZoneInfo)
    codec = backends.open_codec(at.settings)
    explainer = Explainer(at.store, texts.text, codec, policies, at.clock.now(), steps=texts.steps)
    return explainer.explain(msg_id)


def _document(found: Explanation, at: WithStore) -> dict[str, Any]:
    from msgx_app.cli.previews import changes, reference_rows

    policy = at.policy if found.policy is None else found.policy
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
        document["REFERENCE"] = reference_rows(found.change) or None
    return {name: value for name, value in document.items() if value is not None}


def _print(document: dict[str, Any]) -> None:
    told = ("RULES", "FLIGHTS", "REFERENCE", "BASIS", "NOTE")
    facts = [(name, value) for name, value in document.items() if name not in told]
    output.print_facts(facts, title=f"message {document['MSG_ID']}")
    output.print_rows(document["RULES"], RULES, empty="", title="rules, in their order")
    rows = [
        {"FLID": flight["FLID"], "VERSION": _step(flight), **change}
        for flight in document.get("FLIGHTS", ())
        for change in flight["CHANGES"] or [{"TAG": "(nothing differs)"}]
    ]
    if rows:
        output.print_rows(rows, EFFECTS, empty="", title="effect on each flight")
    for row in document.get("REFERENCE", ()):
        print(output.people({"REFERENCE": row}))
    for name in ("BASIS", "NOTE"):
        if name in document:
            output.note(f"{name.lower()}: {document[name]}")


def _step(flight: dict[str, Any]) -> str:
    return f"{flight.get('FROM_VERSION') or '-'} → {flight['STATE_VERSION']}"
