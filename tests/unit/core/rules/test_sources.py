"""Every reason of the closed list has its rule and its source (D-25)."""

import re
from pathlib import Path

import msgx_core
from msgx_core.pipeline.heads import digest_of
from msgx_core.rules.sources import REASONS, source_of

CORE = Path(msgx_core.__file__).parent
RAISED = re.compile(r'(?:Malformed|Protocol|Rejected|CodecError|skipped)\(\s*f?"([A-Za-z_-]+)')


def test_every_reason_that_the_core_gives_is_explained() -> None:
    """D-25: a reason without a source could not be explained."""
    folders = ("rules", "pipeline")
    texts = [path.read_text(encoding="utf-8") for name in folders for path in (CORE / name).rglob("*.py")]
    given = {reason for text in texts for reason in RAISED.findall(text)}
    assert len(given) > 20
    assert given <= REASONS.keys()


def test_the_part_before_the_colon_decides() -> None:
    """D-25: numbers, flights and tags belong to the case; an unknown reason names itself."""
    assert source_of("bad-time:SODT:7") == REASONS["bad-time"]
    assert source_of("no-such") == ("no-such", "D-25")


def test_the_digest_is_that_of_the_bytes() -> None:
    """D-24: text and its UTF-8 bytes are the same message; half a pair is no error."""
    assert digest_of("北京") == digest_of("北京".encode())
    assert len(digest_of("\ud800")) == 64
