"""`msgx explain`: each rule applied to a message, with its source, and the effect on each flight."""

from __future__ import annotations

from typing import Any

from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.messages import MsgId
from msgx_app.cli.options import Common, command
from msgx_app.cli.parts import with_store

RULES = "RULE SOURCE RESULT".split()
RECORDS = "RTYPE ACTION RKEY TAG BEFORE AFTER".split()
EFFECTS = "FLID VERSION TAG BEFORE AFTER".split()


@command("msgx explain 5", "msgx explain 5 --json")
def explain(msg_id: MsgId, common: Common) -> None:
    """Why: each rule applied to this message, in order, with its source, and what it did to each flight.

    The message is decided again on the state before it, as far as events and archive reach back; where they
    do not, on today's state, and it says so. Nothing is written.
    """
    from msgx_app.answers.explained import explained, explanation_document
    from msgx_app.answers.texts import Texts

    with with_store(common) as at, Texts(at) as texts:
        found = explained(at, texts, msg_id)
        if found is None:
            raise Negative(f"there is no message {msg_id}: never taken in, or removed by retention")
        document = explanation_document(found, at.policy)
    if common.as_json:
        output.print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    told = ("RULES", "FLIGHTS", "REFERENCE", "BASIS", "NOTE")
    facts = [(name, value) for name, value in document.items() if name not in told]
    output.print_facts(facts, title=f"message {document['MSG_ID']}")
    output.print_rows(document["RULES"], RULES, empty="", title="rules, in their order")
    rows = [
        {"FLID": flight["FLID"], "VERSION": _step(flight), **change}
        for flight in document.get("FLIGHTS", ())
        for change in output.telling(flight["CHANGES"]) or [{"TAG": "(nothing differs)"}]
    ]
    if rows:
        output.print_rows(rows, EFFECTS, empty="", title="effect on each flight")
    records = [
        {"RTYPE": each["RTYPE"], "ACTION": each["ACTION"], **change}
        for each in document.get("REFERENCE", ())
        for change in output.telling(each.get("CHANGES", ())) or _untold(each)
    ]
    if records:
        output.print_rows(records, RECORDS, empty="", title="effect on reference data")
    for name in ("BASIS", "NOTE"):
        if name in document:
            output.note(f"{name.lower()}: {document[name]}")


def _untold(effect: dict[str, Any]) -> list[dict[str, Any]]:
    """A line for each record where nothing differs, or nobody knows what was there before."""
    told = "(nothing differs)" if "CHANGES" in effect else "(not known)"
    return [{"RKEY": rkey, "TAG": told} for rkey in effect["RKEYS"]] or [{"TAG": told}]


def _step(flight: dict[str, Any]) -> str:
    return f"{flight.get('FROM_VERSION') or '-'} → {flight['STATE_VERSION']}"
