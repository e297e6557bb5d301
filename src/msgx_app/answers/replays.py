"""Replay of failed and dead messages: their text from where they are, and what came of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgx_app.answers.parts import WithStore
from msgx_app.answers.raw import from_archive
from msgx_app.refusals import Negative
from msgx_core.ports.operations import Audit, OperatorResult
from msgx_core.rules.policy_text import raw_grounds
from msgx_core.rules.replay import REPLAY_WHITELIST


def replayed(
    at: WithStore, msg_ids: Sequence[int], who: Audit, *, force: bool = False, archived: bool = False
) -> Sequence[OperatorResult]:
    """Let messages run again: those that the whitelist lets in, with `force` any; or from the archive."""
    wanted = list(dict.fromkeys(msg_ids))
    if archived:
        return _from_archive(at, wanted, who)
    return at.store.replay(wanted, () if force else REPLAY_WHITELIST, who, at.clock.now())


def result_rows(results: Sequence[OperatorResult], key: str) -> list[dict[str, Any]]:
    """What became of each target of an operator action."""
    return [{key: each.target, "DONE": each.refused is None, "REFUSED": each.refused} for each in results]


def _from_archive(at: WithStore, msg_ids: list[int], who: Audit) -> list[OperatorResult]:
    """Let the pump find the archived text of each; those that have none are refused."""
    grounds: dict[int, str] = {}
    refused: dict[int, OperatorResult] = {}
    for msg_id in msg_ids:
        row = at.store.message(msg_id)
        if row is None:
            refused[msg_id] = OperatorResult(msg_id, "unknown message")
            continue
        try:
            grounds[msg_id] = raw_grounds(from_archive(at, row)[0])
        except Negative as error:
            refused[msg_id] = OperatorResult(msg_id, str(error))
    done = at.store.replay_from_archive(grounds, who, at.clock.now())
    results = refused | {result.target: result for result in done}
    return [results[msg_id] for msg_id in msg_ids]
