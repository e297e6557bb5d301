"""Error codes and reasons: the closed lists, each with the rule and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgx_core.model.flight import DeleteReason
from msgx_core.model.proc import AbandonReason, MessageState
from msgx_core.model.schedule import SnapshotFlag, SnapshotResult
from msgx_core.rules.replay import REPLAY_WHITELIST
from msgx_core.rules.sources import REASONS
from reference.markdown import code, page, prose, sentence, table

STATES: Mapping[MessageState, str] = MappingProxyType(
    {
        MessageState.PENDING: "waits for its turn",
        MessageState.FAILED: "has failed and is tried again; it is the head, and all others wait behind it",
        MessageState.SUCCEEDED: "has had its effect",
        MessageState.SKIPPED: "was passed over on purpose; the reason says why",
        MessageState.DEAD: "cannot be worked off as things are; a person looks, and may replay it",
    }
)
CODES: Mapping[str, str] = MappingProxyType(
    {
        "MALFORMED": "not legal XML, or not legal for its kind: dead at once",
        "PROTOCOL": "the package breaks the protocol: dead at once, nothing of it is written",
        "CODEC_ERROR": "an unexpected exception of our own decoding or rules: tried again",
        "INFRA": "a service answered and refuses this one row: tried again (D-04)",
        "EXHAUSTED": "no attempt is left: dead, with the reason of the last one (D-05, D-25)",
    }
)
REQUESTS: Mapping[str, str] = MappingProxyType(
    {
        "timeout": "no answer within `msgx.requests.timeout`",
        "replaced": "a newer request of the same kind took its place",
        "eror": "the AODB refused it",
        "send-lost": "sending broke off, and the row is not in the mailbox",
    }
)
REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "too-large": "an event above what the bus takes (`msgx.kafka.max-message-bytes`)",
        "refused": "the bus refused the event; its own code is behind the colon",
        "mailbox-rejected": "the mailbox answered, and refuses this mark or this message",
    }
)
DELETES: Mapping[DeleteReason, str] = MappingProxyType(
    {
        DeleteReason.FDEL: "a message said so (D-06)",
        DeleteReason.SNAPSHOT_ABSENT: "a schedule covers its day and lacks it (D-11)",
        DeleteReason.CASCADE: "the main flight of its code share was deleted (D-21)",
        DeleteReason.ARCHIVED: "it has ended and went to the history store (D-33)",
    }
)
ABANDONED: Mapping[AbandonReason, str] = MappingProxyType(
    {
        AbandonReason.MISSING_ROW: "the mailbox row is gone",
        AbandonReason.TRANSIENT_DEADLINE: "past its age one more try failed (D-38)",
    }
)
FLAGS: Mapping[SnapshotFlag, str] = MappingProxyType(
    {
        SnapshotFlag.EMPTY: "no records (D-12)",
        SnapshotFlag.RECS_DROP: "far fewer records than the one before (D-16)",
        SnapshotFlag.OUT_OF_ORDER: "sent before the one that was applied last",
        SnapshotFlag.SEQN_REGRESSION: "the sender's number went backwards",
        SnapshotFlag.DAY_MISMATCH: "a flight belongs to another day: nothing was written (D-10)",
    }
)
RESULTS: Mapping[SnapshotResult, str] = MappingProxyType(
    {
        SnapshotResult.COMMITTED: "written",
        SnapshotResult.REPLAY_SKIPPED: "its effects were there already (D-13)",
        SnapshotResult.ROLLED_BACK: "refused, nothing written",
    }
)


def text() -> str:
    """The page."""
    heads = ("reason", "meaning")
    replayable = "; ".join(c if reason is None else f"{c} with `{reason}`" for c, reason in REPLAY_WHITELIST)
    sources = [
        (code(reason), sentence(meaning), prose(source)) for reason, (meaning, source) in REASONS.items()
    ]
    return page(
        "Reasons and codes",
        "What a reason has behind its colon belongs to the case: a number, a tag, a flight. `IMP`, `FST` and"
        " `SIS` are the design documents; [Rules and their tests](../requirements.md) has every rule.\n",
        "## States of a message\n",
        _table(("state", "meaning"), {state.value: words for state, words in STATES.items()}),
        "## Error codes\n",
        _table(("code", "meaning"), CODES),
        f"May be replayed without `--force`: {prose(replayable)}.\n",
        "## Reasons of messages\n",
        table(("reason", "rule", "source"), sources),
        "## Reasons of requests\n",
        _table(heads, REQUESTS),
        "## Refusals of bus and mailbox\n",
        _table(heads, REFUSALS),
        "## Why a mark was given up\n",
        _table(heads, {reason.value: words for reason, words in ABANDONED.items()}),
        "## Why a flight was deleted\n\n`REASON` of a tombstone.\n",
        _table(heads, {reason.value: words for reason, words in DELETES.items()}),
        "## The schedule log\n",
        _table(("result", "meaning"), {each.value: words for each, words in RESULTS.items()}),
        _table(("flag", "meaning"), {each.value: words for each, words in FLAGS.items()}),
    )


def _table(heads: tuple[str, str], rows: Mapping[str, str]) -> str:
    return table(heads, [(code(name), sentence(words)) for name, words in rows.items()])
