"""Whatever comes in: the codec says a message or names what is wrong, in bounded time (R-064, D-25, D-44)."""

from __future__ import annotations

import time
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

from msgx_adapters.codec_lxml import LxmlCodec, codec
from msgx_core.errors import Malformed, Protocol
from msgx_core.model.message import DecodedMessage
from msgx_core.ports import RawText
from msgx_core.rules.sources import REASONS
from tests.fuzz.corpus import corpus
from tests.fuzz.mutating import damaged, reshaped

pytestmark = pytest.mark.timeout(1200)  # deep runs are long
CODEC = LxmlCodec()
SLOW_S = 2.0
EXAMPLES = settings.default.max_examples if settings.default else 60
fuzzed = settings(
    max_examples=4 * EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def decoded(raw: RawText) -> DecodedMessage | Malformed:
    """What comes of it; any other exception is a finding."""
    started = time.thread_time()
    found: DecodedMessage | Malformed
    try:
        found = CODEC.decode(raw)
    except Malformed as error:
        found = error
    assert time.thread_time() - started < SLOW_S
    return found


def check(raw: RawText) -> None:
    """Either a message, or a reason of the closed list with a place where there is one."""
    found = decoded(raw)
    if isinstance(found, Malformed):
        assert found.reason.partition(":")[0] in REASONS
        assert len(found.reason) < 200
    # A place that points anywhere is looked for and never raises.
    for tag, record in (("GATE", 0), ("SODT", 1), ("RECS", None), (None, 10_000)):
        CODEC.locate(raw, Protocol("recs-missing", record=record, tag=tag))


def test_the_corpus_has_every_kind() -> None:
    """R-051: so that damage is done to all of them."""
    kinds = {found.kind for raw in corpus() if isinstance(found := decoded(raw), DecodedMessage)}
    assert len(kinds) >= 6
    assert len(corpus()) > 60


@fuzzed
@given(damaged())
def test_damaged_bytes(raw: bytes) -> None:
    """R-064, R-065, D-44: as bytes, and as the text that a text column would give."""
    check(raw)
    check(raw.decode("utf-8", "surrogateescape"))


@fuzzed
@given(reshaped())
def test_reshaped_trees(raw: bytes) -> None:
    """R-064, R-065, R-069: well-formed and wrong in its meaning, in five encodings."""
    check(raw)


@fuzzed
@given(damaged() | reshaped())
def test_a_large_message_would_be_read_in_the_same_way(raw: bytes) -> None:
    """R-460: the way that takes a message apart while it grows says what the other one says."""
    whole = decoded(raw)
    with mock.patch.object(codec, "STREAM_ABOVE_BYTES", -1):
        streamed = decoded(raw)
    if isinstance(whole, DecodedMessage):
        assert streamed == whole
    else:
        assert isinstance(streamed, Malformed)
        assert streamed.reason == whole.reason
