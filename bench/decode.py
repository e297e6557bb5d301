"""From the text to a decoded message, beside the barest reading of the same bytes."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence

from lxml import etree

from bench.frame.context import Context
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Row, Target
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_app.simulator import big_schedule

TARGET = Target.at_most(2.0)


def bare(raw: bytes) -> list[dict[str, str | None]]:
    """Each flight record as `{tag: text}`; what has been read is cleared."""
    found = []
    for _, element in etree.iterparse(io.BytesIO(raw), tag=("FLTR", "FLOP", "META")):
        found.append({child.tag: child.text for child in element})
        element.clear()
    return found


def measure(context: Context) -> list[Row]:
    """One large schedule, and many small messages of the simulator's mix."""
    sizes = context.sizes
    big = [big_schedule(sizes.big_flights, sizes.big_bytes)] * sizes.decode_repeats
    small = context.stock.flops(sizes.small_messages)
    return [
        _compared(context, "decode-big", f"one schedule of {len(big[0]) / 1e6:.1f} MB", big),
        _compared(context, "decode-small", f"{len(small)} FLOP messages", small),
    ]


def _compared(context: Context, name: str, what: str, raws: Sequence[bytes]) -> Row:
    codec = LxmlCodec()
    pairs = in_turn(
        context.sizes.rounds, lambda _: _seconds(codec.decode, raws), lambda _: _seconds(bare, raws)
    )
    details = {
        "ours_s": [round(pair.ours, 4) for pair in pairs],
        "bare_s": [round(pair.reference, 4) for pair in pairs],
        "bytes": sum(map(len, raws)),
    }
    return Row(name, f"decoding {what}, by iterparse into dicts", ratios(pairs), TARGET, details=details)


def _seconds(decode: Callable[[bytes], object], raws: Sequence[bytes]) -> float:
    began = time.perf_counter()
    for raw in raws:
        decode(raw)
    return time.perf_counter() - began
