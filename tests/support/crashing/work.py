"""Kinds of work beside the message itself: failures, write-back, relays, history, retention, replay."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from attrs import evolve

from crashing.bench import AIRPORT, Act, Bench, Kind, Phase
from crashing.faults import (
    bus_refuses,
    cache_rejects,
    codec_breaks,
    mailbox_takes_no_marks,
    mark_fails,
    store_rejects,
    until,
)
from crashing.kinds import BEFORE, DRAINED, drain, quietly, sends
from first_day import messages
from msgx_core.errors import Transient
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.pipeline.steps import Step
from msgx_core.ports.operations import Audit
from msgx_core.rules.policy_text import raw_grounds
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy
from wire import adft, flop, fltr, gate, schedule

WHY = Audit("test", "asked")
TWICE = RetryPolicy(2, (timedelta(seconds=1),))
FLOP_2 = flop(2, "GTDT", gate("B02"))
FLOP_1 = flop(1, "GTDT", gate("B01"))
BOOM = flop(1, "GTDT", gate("BOOM"))
FIRST = 4
"""The id of the first message of a kind."""


def after(days: float = 0, minutes: float = 0) -> timedelta:
    """How long after the phase before."""
    return timedelta(days=days, minutes=minutes)


def drain_anyway(bench: Bench) -> None:
    """Everything that can be done while something does not answer."""
    with suppress(Transient):
        bench.drain()


def unclean(bench: Bench) -> None:
    """A process before this one was killed while it was idle."""
    bench.ready()
    bench.restart(clean=False)


def _config(**changes: Any) -> PipelineConfig:
    made: PipelineConfig = evolve(AIRPORT, **changes)
    return made


def _rows(act: str, *ids: int) -> Act:
    """The owner does something to rows."""

    def act_on(bench: Bench) -> None:
        for msg_id in ids:
            getattr(bench.parts.owner, act)(msg_id)

    return act_on


def _inserted(msg_id: int, raw: bytes | None) -> Act:
    return lambda bench: bench.parts.owner.insert(msg_id, raw)


def _replayed(*ids: int) -> Act:
    def act(bench: Bench) -> None:
        bench.ready().replay.replay(ids, WHY)

    return act


def _from_archive(msg_id: int) -> Act:
    def act(bench: Bench) -> None:
        key = bench.parts.archive.find(msg_id)
        assert key is not None
        bench.store.replay_from_archive({msg_id: raw_grounds(key)}, WHY, bench.clock.now())

    return act


def _readmitted(msg_id: int) -> Act:
    def act(bench: Bench) -> None:
        assert bench.store.readmit(msg_id, WHY, bench.clock.now()).refused is None

    return act


def _dies(step: Step) -> Act:
    return lambda bench: bench.dies_at(step)


def _foreign_cache(bench: Bench) -> None:
    """The cache was filled from another store."""
    bench.parts.cache.rebuild("another", [])
    bench.restart(clean=True)


FAILING = (
    Kind(
        "codec fault that is put right",
        (quietly(sends(BOOM)), DRAINED, DRAINED),
        BEFORE,
        faults={"codec": codec_breaks(b"BOOM", until(45))},
    ),
    Kind(
        "codec fault for ever",
        (quietly(sends(BOOM, FLOP_1)), DRAINED, DRAINED, DRAINED),
        BEFORE,
        _config(retry=TWICE),
        {"codec": codec_breaks(b"BOOM", until(1_000_000))},
    ),
    Kind(
        "store rejects",
        (quietly(sends(FLOP_1)), DRAINED, DRAINED),
        BEFORE,
        faults={"store": store_rejects(1, until(45))},
    ),
    Kind(
        "cache rejects, applied message exhausted and replayed",
        (quietly(sends(FLOP_1)), DRAINED, DRAINED, Phase(_replayed(FIRST)), DRAINED),
        BEFORE,
        _config(retry=TWICE),
        {"cache": cache_rejects(1, until(55))},
    ),
    Kind("after a kill", (quietly(sends(FLOP_1)), quietly(unclean), DRAINED), BEFORE),
    Kind(
        "killed in its try",
        (
            quietly(sends(FLOP_1)),
            quietly(unclean),
            quietly(_dies(Step.FETCHED)),
            DRAINED,
        ),
        BEFORE,
    ),
    Kind("cache of another store", (quietly(sends(FLOP_1)), quietly(_foreign_cache), DRAINED), BEFORE),
    Kind(
        "smaller id commits late",
        (
            quietly(_inserted(20, FLOP_1)),
            DRAINED,
            quietly(_inserted(15, FLOP_2)),
            DRAINED,
        ),
        BEFORE,
    ),
    Kind("row without a text", (quietly(_inserted(20, None)), DRAINED), BEFORE),
    Kind("the sample day", (quietly(sends(*(raw for _, raw in messages()))), DRAINED), ()),
)

WRITE_BACK = (
    Kind(
        "mark refused for a while",
        (quietly(sends(FLOP_1, BOOM)), DRAINED, DRAINED),
        BEFORE,
        faults={"inbox": mark_fails(FIRST, until(45))},
    ),
    Kind(
        "mark refused past R",
        (quietly(sends(FLOP_1, BOOM)), DRAINED, DRAINED),
        BEFORE,
        _config(writeback=WritebackPolicy(overdue=timedelta(minutes=5))),
        {"inbox": mark_fails(FIRST, until(1_000_000))},
    ),
    Kind(
        "row gone before its mark",
        (quietly(sends(FLOP_1)), Phase(drain_anyway), quietly(_rows("delete", FIRST)), DRAINED),
        BEFORE,
        faults={"inbox": mailbox_takes_no_marks(until(45))},
    ),
    Kind(
        "mailbox takes no marks",
        (quietly(sends(FLOP_1)), Phase(drain_anyway), DRAINED),
        BEFORE,
        faults={"inbox": mailbox_takes_no_marks(until(45))},
    ),
    Kind(
        "marked by somebody else",
        (quietly(sends(FLOP_1)), Phase(drain_anyway), quietly(_rows("mark", FIRST)), DRAINED),
        BEFORE,
        faults={"inbox": mailbox_takes_no_marks(until(45))},
    ),
)

TWO = [fltr(1, "14MAR270805", ACFT="320"), fltr(2, "14MAR271000", ACFT="BIG")]
RELAYS = (
    Kind(
        "bus refuses for a while",
        (
            quietly(sends(schedule("DNLD", TWO), FLOP_1, FLOP_2)),
            DRAINED,
            DRAINED,
            DRAINED,
        ),
        BEFORE,
        faults={"bus": bus_refuses(b'"FLID":2,', "refused:3", until(45))},
    ),
    Kind(
        "too large for the bus",
        (quietly(sends(schedule("DNLD", TWO), FLOP_2)), DRAINED),
        BEFORE,
        faults={"bus": bus_refuses(b"BIG", "too-large", until(1_000_000))},
    ),
)


def _swept(bench: Bench) -> None:
    bench.ready().sweep.run()


def _cleaned(bench: Bench) -> None:
    pipeline = bench.ready()
    pipeline.retention.run()
    pipeline.evidence.remove_expired(timedelta(days=30))


PAIR = [fltr(40, "30MAR271200"), fltr(41, "14MAR271200", MAID="40"), fltr(42, "30MAR271200", MAID="40")]
_OLD = evolve(AIRPORT.retention, history=timedelta(days=10), ledger=timedelta(days=10))
HISTORY = (
    Kind("ended flights leave", (Phase(_swept, after(days=6)), DRAINED), BEFORE, history=True),
    Kind(
        "a child leaves, its main flight stays",
        (Phase(_swept, after(days=6)), DRAINED),
        (*BEFORE, quietly(sends(schedule("DNLD", PAIR))), quietly(drain)),
        history=True,
    ),
    Kind(
        "a key that the cache refuses",
        (Phase(_swept, after(days=6)), DRAINED, quietly(sends(adft(fltr(50, "30MAR270805")))), DRAINED),
        BEFORE,
        faults={"cache": cache_rejects(3, until(1_000_000))},
        history=True,
    ),
    Kind(
        "back from history",
        (quietly(sends(flop(1, "GTDT", gate("B01")), adft(fltr(2, "30MAR270805")))), DRAINED),
        (*BEFORE, quietly(_swept, after(days=6))),
        history=True,
    ),
    Kind(
        "old rows leave",
        (Phase(_cleaned, after(days=100)),),
        (*BEFORE, quietly(_swept, after(days=6))),
        _config(retention=_OLD),
        history=True,
    ),
)

_BROKEN = schedule("DNLD", [fltr(1, "16MAR270805")])
_TWINS = [flop(1, "GTDT", gate("B01"), seqn=901), flop(2, "GTDT", gate("B02"), seqn=901)]
REPLAY = (
    Kind(
        "replay after a fix",
        (
            quietly(sends(BOOM, FLOP_1)),
            quietly(drain),
            quietly(drain),
            Phase(_replayed(FIRST), after(days=1)),
            DRAINED,
        ),
        BEFORE,
        _config(retry=TWICE),
        {"codec": codec_breaks(b"BOOM", until(120))},
    ),
    Kind(
        "replay in vain", (quietly(sends(_BROKEN)), quietly(drain), Phase(_replayed(FIRST)), DRAINED), BEFORE
    ),
    Kind(
        "replay from the archive",
        (
            quietly(sends(FLOP_1)),
            quietly(_dies(Step.EVIDENCE_KEPT)),
            quietly(_rows("delete", FIRST)),
            quietly(drain),
            quietly(_from_archive(FIRST)),
            DRAINED,
        ),
        BEFORE,
    ),
    Kind(
        "readmitted",
        (quietly(sends(*_TWINS)), quietly(drain), quietly(_readmitted(FIRST + 1)), DRAINED),
        BEFORE,
    ),
)

WORK: Sequence[Kind] = (*FAILING, *WRITE_BACK, *RELAYS, *HISTORY, *REPLAY)
