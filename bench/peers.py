"""msgx beside procrastinate and DBOS: the same messages, decoded, applied and cached, strictly in order."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from bench.frame.context import Context
from bench.frame.databases import connect, rows
from bench.frame.machine import command
from bench.frame.product import environment
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Condition, Row, Target
from bench.pipeline import drain

# Of the peer's module: its variants, and how many times as fast msgx shall be.
PEERS: Mapping[str, tuple[tuple[str, ...], float]] = {
    "procrastinate": (("async", "async-delete", "sync"), 3.0),
    "dbos": (("datasource", "steps", "step"), 5.0),
}
_MODULES = {"procrastinate": "procrastinate_jobs", "dbos": "dbos_workflows"}


@frozen
class _Peer:
    """A peer with the database in which its work begins."""

    name: str
    template: str
    jobs: int

    def per_s(self, context: Context, variant: str) -> float:
        """Messages a second. Raises RuntimeError when they were not applied in order."""
        with context.servers.databases.copy(self.template) as url:
            found = self._run(context, url, variant)
            _check_order(url, self.jobs)
        return float(found["per_s"])

    def profile(self, context: Context, variant: str) -> list[str]:
        """Where its time goes."""
        with context.servers.databases.copy(self.template) as url:
            return list(self._run(context, url, variant, "--profile")["profile"])

    def _run(self, context: Context, url: str, variant: str, *more: str) -> Any:
        options = [
            "--redis",
            context.servers.redis.url,
            "--count",
            str(self.jobs),
            "--variant",
            variant,
            *more,
        ]
        return json.loads(_child(context, self.name, "run", url, *options).splitlines()[-1])


def measure(context: Context) -> list[Row]:
    """Pairs of the whole daemon, relays and write-back running, and of each peer's best variant."""
    sizes, databases = context.sizes, context.servers.databases
    jobs = min(sizes.peer_prefilled, context.prepared.messages)

    def fill(url: str) -> None:
        _child(context, "procrastinate", "fill", url, "--count", str(jobs))

    with_raw = databases.made("peer", lambda url: _put_raw(context, url), context.prepared.floor)
    filled = databases.made("procrastinate", fill, with_raw)
    return [
        _compared(context, _Peer("procrastinate", filled, min(sizes.peer_jobs, jobs))),
        _compared(context, _Peer("dbos", with_raw, min(sizes.peer_workflows, jobs))),
    ]


def _compared(context: Context, peer: _Peer) -> Row:
    variants, limit = PEERS[peer.name]
    tries = {variant: peer.per_s(context, variant) for variant in variants}
    best = max(tries, key=lambda variant: tries[variant])
    prepared = context.prepared
    messages = context.stock.flops(prepared.messages)
    runs = []

    def ours(_: int) -> float:
        runs.append(drain(context, prepared.base, messages, prepared.first))
        return runs[-1].rate

    pairs = in_turn(context.sizes.rounds, ours, lambda _: peer.per_s(context, best))
    details = {
        "variant": best,
        "variants_per_s": {name: round(found) for name, found in tries.items()},
        "ours_per_s": [round(pair.ours) for pair in pairs],
        "peer_per_s": [round(pair.reference) for pair in pairs],
        "peer_messages": peer.jobs,
        "profile": peer.profile(context, best),
    }
    same = Condition("every message succeeded", all(run.succeeded == prepared.messages for run in runs))
    what = f"messages a second, by {peer.name} ({best})"
    return Row(f"peers-{peer.name}", what, ratios(pairs), Target(limit), conditions=(same,), details=details)


def _put_raw(context: Context, url: str) -> None:
    with connect(url) as target:
        target.execute("CREATE SCHEMA peer")
        target.execute("CREATE TABLE peer.RAW (N bigint PRIMARY KEY, RAW text NOT NULL)")
        raws = context.stock.flops(context.prepared.messages)
        with target.cursor().copy("COPY peer.RAW FROM STDIN") as copy:
            for number, raw in enumerate(raws, start=1):
                copy.write_row((number, raw.decode()))


def _check_order(url: str, jobs: int) -> None:
    """Each message was applied, and they were in order."""
    statement = (
        "SELECT COUNT(*), COUNT(*) FILTER (WHERE APPLY_NO <= BEFORE) FROM ("
        " SELECT APPLY_NO, LAG(APPLY_NO) OVER (ORDER BY MSG_ID) AS BEFORE FROM msgx.PROC_STATE"
        " WHERE STATE = 'PENDING' AND APPLIED_AT IS NOT NULL) A"
    )
    ((applied, wrong),) = rows(url, statement)
    if applied < jobs or wrong:
        raise RuntimeError(f"{applied} of {jobs} messages are applied, {wrong} of them out of order")


def _child(context: Context, name: str, *arguments: str) -> str:
    from bench import ROOT

    run = subprocess.run(
        command("-m", f"bench.peer.{_MODULES[name]}", *arguments),
        env={**environment({}), "PYTHONPATH": str(ROOT)},
        cwd=context.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    if run.returncode:
        raise RuntimeError(f"{name}: {run.stderr.strip()[-1500:]}")
    return run.stdout
