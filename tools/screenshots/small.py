"""Pictures of a few hundred kilobytes become a few tens: text and plain grounds need no more colours."""

from __future__ import annotations

import io
from typing import Final

from PIL import Image

COLOURS: Final = 160


def make_small(png: bytes) -> bytes:
    """The same picture with a palette."""
    with Image.open(io.BytesIO(png)) as opened:
        # No dithering: it would put grain into plain grounds, which looks dirty and packs badly.
        small = opened.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()
