"""The kinds of the crash matrix are what their names say: how their messages end without a crash."""

from __future__ import annotations

import pytest

from crashing.matrix import KINDS, undisturbed
from msgx_core.model.message import MsgKind, kind_of

ENDS = {
    "SCHD other day": ["SAME_FLID_ACROSS_OPERATION_DAYS"],
    "SCHD recs-mismatch": ["recs-mismatch:3!=2"],
    "SCHD duplicate-flid": ["duplicate-flid:1"],
    "SCHD RESP unmatched": ["unmatched-response"],
    "ADFT other day": ["SAME_FLID_ACROSS_OPERATION_DAYS"],
    "FLOP unknown flight skipped": ["missing-flight"],
    "FLOP unsupported": ["unsupported"],
    "FLOP deleted flight": ["flight-deleted"],
    "FLOP bad time": ["bad-time:STST"],
    "FDEL already gone": ["already-gone"],
    "reference recs-mismatch": ["recs-mismatch:2!=1"],
    "season": ["unsupported"],
    "EROR without a request": ["no-open-request"],
    "not XML": ["not-well-formed"],
    "entity bomb": ["doctype-not-allowed"],
    "no text": ["raw-missing"],
    "duplicate": ["SUCCEEDED", "duplicate-of:4"],
    "duplicate of other content": ["SUCCEEDED", "duplicate-of:4"],
    "RESP for a day, and again": ["SUCCEEDED", "unmatched-response"],
    "RESP broken": ["recs-mismatch:9!=1"],
    "RESP outside its days": ["out-of-scope:4"],
    "RESP late, then in time": ["unmatched-response", "SUCCEEDED"],
    "codec fault for ever": ["codec-exception:RuntimeError", "SUCCEEDED"],
    "row without a text": ["raw-missing"],
    "back from history": ["flight-archived", "SUCCEEDED"],
    "replay in vain": ["SAME_FLID_ACROSS_OPERATION_DAYS"],
}
"""Reasons of messages, `SUCCEEDED` where one just succeeds; all messages of other kinds just succeed."""

DAY = "the sample day"
BEFORE = 3
"""Messages that were there before."""


@pytest.mark.parametrize("name", [kind.name for kind in KINDS if kind.name != DAY])
def test_a_kind_ends_as_it_should(name: str) -> None:
    rows = undisturbed(name).state["store"]["PROC_STATE"]
    rows = sorted((row for row in rows if row["MSG_ID"] > BEFORE), key=lambda row: int(row["MSG_ID"]))
    ends = [row["REASON"] or row["STATE"] for row in rows]
    assert ends == ENDS.get(name, ["SUCCEEDED"] * len(rows))


def test_all_kinds_of_messages_are_there() -> None:
    """Every handler of the pipeline."""
    rows = [row for kind in KINDS for row in undisturbed(kind.name).state["store"]["PROC_STATE"]]
    found = {kind_of(row["TYPE"], row["STYP"]) for row in rows if row["TYPE"] is not None}
    assert found == set(MsgKind)
