"""The simulator is deterministic, ordered, and refuses plans that cannot be."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_app import simulator
from msgx_app.simulator import BROKEN, SimulatedMessage, Simulation, SimulationPlan, simulate

DAY = date(2027, 3, 14)
PLAN = SimulationPlan(seed=7, day=DAY, flights=160)
plans = st.builds(
    SimulationPlan,
    seed=st.integers(),
    day=st.dates(date(2001, 1, 1), date(2098, 12, 1)),
    flights=st.integers(40, 70),
    airport=st.sampled_from(["KMG", "SIN", "XYZ"]),
    timezone=st.sampled_from(["Asia/Shanghai", "America/St_Johns", "Europe/Paris", "UTC"]),
)
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def digest(messages: Iterable[SimulatedMessage]) -> str:
    total = hashlib.sha256()
    for m in messages:
        total.update(f"{m.offset_s!r} {m.name} {m.fault} ".encode() + m.raw)
    return total.hexdigest()


def parse(message: SimulatedMessage) -> ET.Element:
    return ET.fromstring(message.raw)


def meta(root: ET.Element, tag: str) -> str:
    return (root.findtext(f"META/{tag}") or "").strip()


def readable(messages: Iterable[SimulatedMessage]) -> Iterator[tuple[SimulatedMessage, ET.Element]]:
    return ((m, parse(m)) for m in messages if m.fault not in BROKEN | {"doctype"})


@pytest.fixture(scope="module")
def day() -> list[SimulatedMessage]:
    return list(simulate(PLAN))


def test_same_plan_same_bytes(day: list[SimulatedMessage]) -> None:
    assert digest(simulate(PLAN)) == digest(day)


@pytest.mark.parametrize(
    "other", [{"seed": 8}, {"flights": 161}, {"day": date(2027, 3, 15)}, {"airport": "SIN"}]
)
def test_another_plan_other_bytes(day: list[SimulatedMessage], other: dict[str, object]) -> None:
    changed = SimulationPlan(**{"seed": 7, "day": DAY, "flights": 160, **other})  # type: ignore[arg-type]
    assert digest(simulate(changed)) != digest(day)


def test_same_bytes_in_processes_with_other_hash_seeds_and_locales() -> None:
    code = (
        "import hashlib, sys\n"
        "from datetime import date\n"
        "from msgx_app.simulator import SimulationPlan, simulate, big_schedule\n"
        "h = hashlib.sha256()\n"
        "for m in simulate(SimulationPlan(seed=3, day=date(2027, 3, 14), flights=60)):\n"
        "    h.update(repr((m.offset_s, m.name, m.fault)).encode() + m.raw)\n"
        "h.update(big_schedule(flights=40, target_bytes=200_000))\n"
        "print(h.hexdigest())\n"
    )
    source = str(Path(simulator.__file__).parents[2])
    printed = set()
    for hash_seed, zone, lang in (
        ("0", "UTC", "C"),
        ("1", "Asia/Tokyo", "C.UTF-8"),
        ("4242", "UTC", "zh_CN.UTF-8"),
    ):
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "LC_ALL": lang, "PYTHONPATH": source}
        run = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        printed.add(run.stdout.strip())
    assert len(printed) == 1
    assert len(printed.pop()) == 64


@given(plans)
@few
def test_ordered_named_and_numbered(plan: SimulationPlan) -> None:
    messages = list(simulate(plan))
    assert all(0 <= a.offset_s <= b.offset_s < plan.end_s for a, b in itertools.pairwise(messages))
    assert [int(m.name.split("-")[0]) for m in messages] == list(range(1, len(messages) + 1))
    assert sorted(m.name for m in messages) == [m.name for m in messages]
    seqns = [int(meta(r, "SEQN")) for m, r in readable(messages) if not m.fault.startswith("duplicate")]
    assert all(a < b for a, b in itertools.pairwise(seqns))


def test_stop_early_and_run_once() -> None:
    simulation = Simulation(PLAN)
    assert len(list(itertools.islice(simulation.messages(), 20))) == 20
    with pytest.raises(RuntimeError, match="once"):
        simulation.messages()


@pytest.mark.parametrize(
    "wrong",
    [{"airport": "kmg"}, {"flights": 0}, {"timezone": "Mars/Base"}, {"fault_rate": 2.0}, {"hours": 0.0}],
)
def test_impossible_plans_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SimulationPlan(**{"seed": 1, "day": DAY, **wrong})  # type: ignore[arg-type]


@given(st.integers(1, 39), st.floats(0.5, 48), st.integers())
@few
def test_small_and_short_plans_work_too(flights: int, hours: float, seed: int) -> None:
    plan = SimulationPlan(seed=seed, day=DAY, flights=flights, hours=hours, fault_rate=0)
    messages = list(simulate(plan))
    assert all(parse(m).tag == "MSG" for m in messages)
    assert not any(m.fault for m in messages)
    assert sum(m.name.endswith("schd-dnld") for m in messages) >= 1
