"""Whether the pipeline stays as fast when the store is full, and when nobody has vacuumed it for an hour."""

from __future__ import annotations

from collections.abc import Mapping

from bench.frame.context import Context
from bench.frame.databases import connect, rows, run
from bench.frame.prepared import sql
from bench.frame.product import IN_MEMORY, in_process
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Condition, Row, Target
from bench.pipeline import Drained, drain

TARGET = Target(0.9)
_PORTION = 500
"""Messages between two rounds of the relays, about as many as a minute brings."""


def measure(context: Context) -> list[Row]:
    """Pairs with the store at the beginning of its day."""
    sizes, databases = context.sizes, context.servers.databases
    base = context.prepared.base
    context.say(
        f"  {sizes.grown_processed} messages, {sizes.grown_events} events, {sizes.grown_flights} flights"
    )
    grown = databases.made("grown", lambda url: _grow(context, url), base)
    sizes_of = _row_bytes(databases.url(grown))
    full = _compared(context, "growth-full", "with a full store by an empty one", grown, 0, sizes_of)
    databases.drop(grown)
    context.say(f"  {sizes.hour_updates} updates without vacuum")
    worn = databases.create("worn", base)
    _wear(context, databases.url(worn))
    unvacuumed = _compared(
        context,
        "growth-unvacuumed",
        "after an hour's updates without vacuum by fresh",
        worn,
        sizes.hour_updates,
        {},
    )
    databases.drop(worn)
    return [full, unvacuumed]


def _compared(
    context: Context, name: str, what: str, template: str, skip: int, more: Mapping[str, int]
) -> Row:
    many, base = context.sizes.growth_slice, context.prepared.base
    messages = context.stock.flops(many, skip)
    first = context.prepared.first + skip
    runs: list[Drained] = []

    def per_s(store: str) -> float:
        runs.append(drain(context, store, messages, first))
        return runs[-1].rate

    pairs = in_turn(context.sizes.rounds, lambda _: per_s(template), lambda _: per_s(base))
    whole = Condition("every message succeeded", all(one.succeeded == many for one in runs))
    details = {
        "ours_per_s": [round(pair.ours) for pair in pairs],
        "reference_per_s": [round(pair.reference) for pair in pairs],
        "messages": many,
        **more,
    }
    return Row(name, f"messages a second {what}", ratios(pairs), TARGET, conditions=(whole,), details=details)


def _row_bytes(url: str) -> dict[str, int]:
    """What a row of the large tables takes, its part of the indexes included."""
    statement = (
        "SELECT relname || '_bytes', (pg_total_relation_size(oid) / reltuples)::bigint FROM pg_class"
        " WHERE relnamespace = 'msgx'::regnamespace AND reltuples > 0"
        " AND relname IN ('proc_state', 'msg_event', 'flight_schd')"
    )
    return dict(rows(url, statement))


def _grow(context: Context, url: str) -> None:
    sizes = context.sizes
    script = sql("growth")
    numbers = {
        "processed": sizes.grown_processed,
        "events": sizes.grown_events,
        "flights": sizes.grown_flights,
    }
    for name, number in numbers.items():
        script = script.replace(f":{name}", str(number))
    run(url, f"SET synchronous_commit = off;\n{script}")


def _wear(context: Context, url: str) -> None:
    """An hour's messages through the pipeline, events and marks too, where autovacuum does nothing."""
    _leave_alone(url)
    with in_process({**IN_MEMORY, "MSGX_STORE_URL": url}) as container:
        left = context.stock.flops(context.sizes.hour_updates)
        # Ids follow those of the day before, as in a mailbox.
        container.inbox.insert(context.prepared.first - 1, b"", processed="2027-03-14 00:00:00")  # type: ignore[attr-defined]
        for start in range(0, len(left), _PORTION):
            container.inbox.send_many(left[start : start + _PORTION])
            container.pipeline.drain()


def _leave_alone(url: str) -> None:
    with connect(url) as owner:
        found = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'msgx'::regnamespace AND relkind = 'r'"
        )
        for (name,) in found.fetchall():
            owner.execute(f'ALTER TABLE msgx."{name}" SET (autovacuum_enabled = off)'.encode())
