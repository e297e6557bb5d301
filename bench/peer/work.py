"""What each peer does for a message: decode, the floor's step 1, the flight into Redis. No rule is computed.

Peers get it easier than msgx: what is to be written lies in the database, and there is no mailbox, no
identity, no write-back and no relay.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from msgx_adapters.codec_lxml import LxmlCodec

EFFECT = "SELECT floor.APPLY(%s)"
_CODEC = LxmlCodec()
_SHOWN = 12


def decode(raw: str) -> None:
    """The message as msgx decodes it."""
    _CODEC.decode(raw)


def options(*variants: str) -> Namespace:
    """Of the command line: where, what, how many."""
    parser = ArgumentParser()
    parser.add_argument("action", choices=("fill", "run"))
    parser.add_argument("url")
    parser.add_argument("--redis", default="")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--variant", choices=variants, default=variants[0])
    parser.add_argument("--profile", action="store_true")
    return parser.parse_args()


def inputs(url: str) -> Mapping[int, tuple[str, str]]:
    """By number: the raw message and the document for Redis."""
    statement = (
        "SELECT M.N, R.RAW, M.DOCUMENT::text FROM floor.MESSAGE M JOIN peer.RAW R USING (N) ORDER BY N"
    )
    with psycopg.connect(url) as asked:
        return {n: (raw, document) for n, raw, document in asked.execute(statement.encode())}


def key(number: int) -> str:
    """Where the document goes."""
    return f"peer:flight:{number}"


def measured(work: Callable[[], Any], count: int, *, profile: bool) -> None:
    """Do the work and print its rate, or its profile, as JSON."""
    profiler = cProfile.Profile()
    began = time.perf_counter()
    if profile:
        profiler.enable()
    work()
    profiler.disable()
    seconds = time.perf_counter() - began
    found: dict[str, Any] = {"per_s": count / seconds}
    if profile:
        found["profile"] = _top(profiler)
    print(json.dumps(found))


def _top(profiler: cProfile.Profile) -> list[str]:
    """The functions with most time of their own: share, place."""
    entries = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in entries.values()) or 1.0
    most = sorted(entries.items(), key=lambda item: -item[1][2])[:_SHOWN]
    return [f"{entry[2] / total:4.0%} {_place(*place)}" for place, entry in most]


def _place(path: str, line: int, function: str) -> str:
    inside = path.rpartition("site-packages/")[2] if "site-packages/" in path else path.rpartition("/")[2]
    return f"{function} ({inside})" if line else function
