"""How much is measured: all of it, or a minute's worth."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Sizes:
    """Numbers of messages, rows and rounds; durations in seconds."""

    rounds: int
    flights: int
    messages: int
    bare_commits: int
    check_messages: int
    peer_prefilled: int
    peer_jobs: int
    peer_workflows: int
    decode_repeats: int
    small_messages: int
    big_flights: int
    big_bytes: int
    grown_processed: int
    grown_events: int
    grown_flights: int
    growth_slice: int
    hour_updates: int
    latency_s: float
    embedded_messages: int
    starts: int
    scale_pipelines: tuple[int, ...]
    scale_s: float
    settle_s: float


FULL = Sizes(
    rounds=5,
    flights=1500,
    messages=5000,
    bare_commits=5000,
    check_messages=5000,
    peer_prefilled=4000,
    peer_jobs=1000,
    peer_workflows=500,
    decode_repeats=5,
    small_messages=5000,
    big_flights=4000,
    big_bytes=10 * 1024 * 1024 - 1024,
    grown_processed=1_000_000,
    grown_events=1_000_000,
    grown_flights=200_000,
    growth_slice=2000,
    hour_updates=36_000,
    latency_s=90.0,
    embedded_messages=3000,
    starts=15,
    scale_pipelines=(1, 2, 4, 8, 16, 32),
    scale_s=6.0,
    settle_s=6.0,
)

QUICK = Sizes(
    rounds=1,
    flights=150,
    messages=300,
    bare_commits=500,
    check_messages=300,
    peer_prefilled=300,
    peer_jobs=80,
    peer_workflows=40,
    decode_repeats=1,
    small_messages=200,
    big_flights=400,
    big_bytes=1024 * 1024,
    grown_processed=20_000,
    grown_events=20_000,
    grown_flights=4_000,
    growth_slice=100,
    hour_updates=300,
    latency_s=4.0,
    embedded_messages=200,
    starts=3,
    scale_pipelines=(1, 2, 4),
    scale_s=1.0,
    settle_s=6.0,
)
