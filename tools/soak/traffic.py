"""What is sent during a soak, and what must come of it: an undisturbed run on the embedded set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import islice
from typing import Any

from attrs import frozen

from embedded import System
from msgx_app.simulator import SimulationPlan, simulate
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports import Store
from msgx_core.ports.operations import MessageFilter
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document

WHITELIST = "extended"
CATEGORIES = "COUL ARPT AIRL AIRC REGN ORGN FLTL TLST GLST SLST CLST BLST CHLT RSTA".split()
MOST = 1_000_000


@frozen
class Outcome:
    """Everything that was decided, without the times of writing.

    Fates by message (state, code, reason), effects in the order of `APPLY_NO`, full states by flight, rosters
    by day, reference data by category, and the alerts that are about messages.
    """

    fates: dict[int, tuple[str, str | None, str | None]]
    effects: list[int]
    documents: dict[int, dict[str, Any]]
    rosters: dict[str, tuple[int, list[int]]]
    references: dict[str, list[Any]]
    alerts: list[tuple[str, int | None]]


def messages(seed: int, count: int) -> list[bytes]:
    """That many messages of airport days, one day behind the other; equal seeds give equal bytes."""
    return list(islice(_days(seed), count))


def _days(seed: int) -> Iterator[bytes]:
    first_seqn = 1
    for n in range(365):
        plan = SimulationPlan(
            seed=seed + n,
            day=date(2027, 3, 14) + timedelta(days=n),
            flights=80,
            fault_rate=0.02,
            first_seqn=first_seqn,
        )
        for message in simulate(plan):
            first_seqn += 1
            yield message.raw


def policy() -> Policy:
    """The rules' choices of both runs."""
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Asia/Shanghai")
    return Policy(airport_zone=zone, sis_zone=zone, flop_whitelist=whitelist(WHITELIST))


def undisturbed(raws: Sequence[bytes]) -> Outcome:
    """The same messages on the embedded set, with nothing in their way."""
    system = System(None, config=PipelineConfig(policy=policy()))
    try:
        system.send(raws)
        system.drain()
        return outcome(system.store)
    finally:
        system.close()


def outcome(store: Store) -> Outcome:
    """What a store has come to."""
    rows = store.messages(MessageFilter(limit=MOST))
    applied = sorted((row["APPLY_NO"], row["MSG_ID"]) for row in rows if row.get("APPLY_NO") is not None)
    return Outcome(
        fates={r["MSG_ID"]: (r["STATE"], r.get("ERROR_CODE"), r.get("REASON")) for r in rows},
        effects=[msg_id for _, msg_id in applied],
        documents={s.flid: settled(flight_document(s, policy())) for s in store.flights(limit=MOST)},
        rosters={f"{r.day}": (r.version, sorted(r.flids)) for r in store.rosters()},
        references={rtype: [(r.rkey, r.node) for r in store.references(rtype)] for rtype in CATEGORIES},
        alerts=sorted(
            (a["CODE"], a.get("MSG_ID"))
            for a in store.alerts(limit=MOST)
            if a["CODE"] not in ("OUTAGE", "CACHE_LOST", "BACKFILL_ATTEMPTS")
        ),
    )


def settled(document: dict[str, Any]) -> dict[str, Any]:
    """A full state without the time of writing, as JSON has it."""
    plain: dict[str, Any] = json.loads(json.dumps(document))
    return {key: value for key, value in plain.items() if key != "UPDATED_AT"}
