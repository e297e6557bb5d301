"""`msgx decode` on whatever comes in: a verdict, never a trace; and what the whole pipeline makes of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from embedded import closing_system
from msgx_app.answers.verdicts import verdict
from msgx_app.settings import load_settings
from msgx_cli import Msgx, ready
from msgx_core.rules.sources import REASONS
from tests.fuzz.corpus import corpus, sample_files
from tests.fuzz.mutating import damaged, reshaped
from wire import fltr, schedule

pytestmark = pytest.mark.timeout(1200)  # deep runs are long
SETTINGS = load_settings(None, {}, {"msgx.airport.code": "PVG", "msgx.flop.whitelist": "extended"}).settings
SLOW_S = 3.0
FEW = settings.default.max_examples if settings.default else 60
CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large]
OURS = {"codec-exception", "handler-exception"}
PLAN = schedule("DNLD", [fltr(700101), fltr(700102, MAID="700101"), fltr(1), fltr(2, "15MAR270805")])


def check(raw: bytes) -> None:
    """A verdict with a state, a reason of the closed list and facts that can be printed."""
    started = time.thread_time()
    found = verdict(raw, SETTINGS)
    assert time.thread_time() - started < SLOW_S
    assert found["STATE"] in ("SUCCEEDED", "SKIPPED", "DEAD")
    reason = (found.get("REASON") or "").partition(":")[0]
    assert not reason or reason in REASONS
    assert reason not in OURS, found
    json.dumps(found, default=str).encode("utf-8", "surrogatepass")


@settings(max_examples=3 * FEW, suppress_health_check=CHECKS)
@given(damaged())
def test_the_verdict_on_damaged_bytes(raw: bytes) -> None:
    """D-25: every event type is let in, so that every rule gets its share."""
    check(raw)


@settings(max_examples=4 * FEW, suppress_health_check=CHECKS)
@given(reshaped())
def test_the_verdict_on_reshaped_trees(raw: bytes) -> None:
    """D-12, D-14, D-18, D-25: they pass the codec and meet the rules."""
    check(raw)


@settings(max_examples=FEW, suppress_health_check=CHECKS)
@given(reshaped())
def test_the_pipeline_ends_whatever_it_is(raw: bytes) -> None:
    """R-110, R-124, D-25: on a system that has flights already a message ends in one go, and not by a fault
    of ours."""
    with closing_system(None) as system:
        ids = system.send([PLAN, raw, PLAN.replace(b"<SEQN>", b"<SEQN>9")])
        system.drain()
        fates = system.fates()
        assert {fates[msg_id][0] for msg_id in ids} <= {"SUCCEEDED", "SKIPPED", "DEAD"}
        assert fates[ids[1]][1] != "CODEC_ERROR", fates
        assert system.inbox.scan(0, 10) == []


@pytest.fixture(scope="module")
def msgx(tmp_path_factory: pytest.TempPathFactory) -> Msgx:
    return ready(tmp_path_factory.mktemp("fuzz"))


@settings(max_examples=max(20, FEW // 2), suppress_health_check=CHECKS)
@given(raw=damaged() | reshaped())
def test_the_command_ends_with_a_word(msgx: Msgx, raw: bytes) -> None:
    """Exit code 0 or 1 as the verdict says, JSON on standard output, nothing else said."""
    file = msgx.folder / "fuzzed.xml"
    file.write_bytes(raw)
    answer = msgx("decode", file, "--json")
    assert answer.code == (1 if answer.json["STATE"] == "DEAD" else 0)
    assert answer.err == ""
    assert "STATE" in msgx("decode", file).out or answer.json["STATE"]


@pytest.mark.parametrize("file", sample_files(), ids=lambda path: path.stem)
def test_the_samples_themselves(file: Path) -> None:
    """What fuzzing starts from has a verdict of its own."""
    check(file.read_bytes())
    assert file.read_bytes() in corpus()
