"""The frame of the benchmarks: ratios, verdicts, the report and its exit code."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import bench
from bench.__main__ import BENCHES, CAPACITY, main
from bench.frame.charts import draw
from bench.frame.figures import figure, fill
from bench.frame.report import Report, tried
from bench.frame.rounds import Pair, Spread, in_turn, ratios
from bench.frame.sizes import FULL
from bench.frame.stock import Stock
from bench.frame.targets import Condition, Row, Target, Verdict, failed

FROZEN = "913d02b436027f77309f4ed86b415d5169c02108917c9c5181ae339a55307030"


def row(name: str, *values: float, target: Target | None = None, **more: object) -> Row:
    return Row(name, f"what {name} is", Spread.of(*values), target, **more)  # type: ignore[arg-type]


def report(*rows: Row, quick: bool = False) -> Report:
    return Report({"processor": "P"}, rows, 61.0, "2027-03-14T06:00+00:00", quick, {"b": ["this", "that"]})


def test_a_round_measures_both_and_each_goes_first_in_turn() -> None:
    order: list[str] = []

    def measured(name: str, value: float, number: int) -> float:
        order.append(f"{name}{number}")
        return value * (number + 1)

    pairs = in_turn(3, lambda n: measured("ours", 3.0, n), lambda n: measured("floor", 4.0, n))
    assert order == ["floor0", "ours0", "ours1", "floor1", "floor2", "ours2"]
    assert pairs == (Pair(3.0, 4.0), Pair(6.0, 8.0), Pair(9.0, 12.0))
    assert ratios(pairs) == Spread.of(0.75, 0.75, 0.75)


def test_a_spread_has_its_median_range_and_ranks() -> None:
    spread = Spread.of(*(float(n) for n in range(200, 0, -1)))
    assert (spread.median, spread.low, spread.high) == (100.5, 1.0, 200.0)
    assert [spread.part(share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 100.0, 198.0, 200.0]
    with pytest.raises(ValueError, match="nothing was measured"):
        Spread.of()


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (Target(0.75), 0.75, Verdict.MET),
        (Target(0.75), 0.7499, Verdict.MISSED),
        (Target.at_most(2.5), 2.5, Verdict.MET),
        (Target.at_most(2.5), 2.51, Verdict.MISSED),
        (None, 9.0, Verdict.REPORTED),
    ],
)
def test_the_median_is_held_against_the_target(target: Target | None, value: float, verdict: Verdict) -> None:
    assert row("a", value, value - 1, value + 1, target=target).verdict is verdict


def test_p99_is_held_against_the_target_where_the_row_says_so() -> None:
    slow = [10.0] * 98 + [151.0, 151.0]
    assert row("a", *slow, target=Target.at_most(150), statistic="p99").verdict is Verdict.MISSED
    assert row("a", *slow, target=Target.at_most(150)).verdict is Verdict.MET


def test_a_row_whose_condition_does_not_hold_is_missed_whatever_it_measured() -> None:
    behind = Condition("the relays keep up", holds=False)
    assert row("a", 5.0, target=Target(1), conditions=(behind,)).verdict is Verdict.MISSED
    assert row("a", 5.0, conditions=(behind,)).verdict is Verdict.MISSED
    assert failed("a", RuntimeError("gone")).verdict is Verdict.FAILED


def test_one_missed_target_makes_the_exit_code_1_but_not_of_a_quick_run() -> None:
    met, missed = row("a", 1.0, target=Target(1)), row("b", 0.5, target=Target(1))
    broken = failed("c", RuntimeError("gone"))
    assert report(met).exit_code == 0
    assert report(met, missed).exit_code == 1
    assert report(met, missed, quick=True).exit_code == 0
    assert report(met, broken, quick=True).exit_code == 1


def test_the_report_has_every_row_and_what_was_tried_for_a_missed_one(tmp_path: Path) -> None:
    behind = Condition("the relays keep up", holds=False)
    rows = row("a", 1.0, 3.0, target=Target(1)), row("b", 0.5, target=Target(1), conditions=(behind,))
    made = report(*rows, failed("c", RuntimeError("gone")), row("d", 120.0, unit="ms"))
    made.write(tmp_path)
    found = json.loads((tmp_path / "report.json").read_text())
    verdicts = {each["bench"]: each["verdict"] for each in found["rows"]}
    assert verdicts == {"a": "met", "b": "missed", "c": "failed", "d": "reported"}
    assert found["machine"] == {"processor": "P"}
    assert found["rows"][0]["values"] == [1.0, 3.0]
    assert (found["rows"][0]["value"], found["rows"][0]["target"]) == (2.0, "≥ 1")
    assert found["rows"][1]["tried"] == ["this", "that"]
    assert found["rows"][1]["conditions"] == {"the relays keep up": False}
    page = (tmp_path / "report.md").read_text()
    assert "| a | 2.00 | 1.00–3.00 | ≥ 1 | met | what a is |" in page
    assert "* does not hold: the relays keep up\n* tried: this\n* tried: that" in page
    assert "* RuntimeError: gone" in page
    assert re.search(r"^d +120 ms +120–120 +reported +what d is$", made.text(), re.MULTILINE)


def test_charts_are_drawn_for_what_there_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib comes with the extra bench")
    points = [{"pipelines": 1, "per_s": 9.0, "message_ms": 1.0}]
    rows = (
        row("a", 1.0, 3.0, target=Target(1)),
        row("latency-cache", 5.0, target=Target.at_most(9), statistic="p99", details={"sorted_ms": [5.0]}),
        row("scale", 4.0, unit="pipelines", details={"curves": {"database": points}}),
    )
    names = draw(report(*rows).document(), tmp_path)
    assert names == ["targets.png", "rounds.png", "scale.png", "latency.png"]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)


def test_figures_of_the_report_come_into_the_page(tmp_path: Path) -> None:
    points = [{"pipelines": 4, "per_s": 4000.0}]
    rows = (
        row("a", 0.8123, details={"per_s": [500, 400, 300]}),
        row("scale", 4.0, details={"curves": {"database": points}}),
    )
    page = tmp_path / "page.md"
    names = (
        "value a",
        "median a.per_s",
        "us a.per_s",
        "scale database 4 per_s",
        "machine processor",
        "value b",
    )
    page.write_text(" ".join(f"<!--= {name} -->…<!--/-->" for name in names), encoding="utf-8")
    for _ in range(2):
        assert fill(page, report(*rows).document()) == len(names)
        found = re.findall(r"-->([^<]*)<!--/-->", page.read_text(encoding="utf-8"))
        assert found == ["0.81", "400", "2,500", "4,000", "P", "n/a"]
    with pytest.raises(ValueError, match="no figure is called 'rate a'"):
        figure("rate a", report(*rows).document())


def test_every_figure_of_the_capacity_page_is_of_a_known_kind() -> None:
    names = re.findall(r"<!--= (.*?) -->", CAPACITY.read_text(encoding="utf-8"))
    assert len(names) > 20
    for name in names:
        figure(name, {"rows": [], "machine": {}})


def test_what_was_tried_is_named_by_rows_that_there_are() -> None:
    notes = tried(Path(bench.__file__).with_name("tried.toml"))
    assert {name.partition("-")[0] for name in notes} <= set(BENCHES)
    assert all(isinstance(text, str) for texts in notes.values() for text in texts)


def test_the_floor_is_frozen() -> None:
    """Whoever changes what the floor does changes what every ratio means."""
    text = Path(bench.__file__).with_name("floor.sql").read_bytes()
    assert hashlib.sha256(text).hexdigest() == FROZEN


def test_messages_of_the_stock_rise_in_seqn_however_often_the_day_is_repeated() -> None:
    stock = Stock.of(flights=20)
    numbers = [
        int(found[1])
        for raw in (*stock.setup, *stock.flops(900))
        if (found := re.search(rb"<SEQN>(\d+)</SEQN>", raw))
    ]
    assert numbers == list(range(1, len(stock.setup) + 901))
    times = [found[1] for raw in stock.flops(900) if (found := re.search(rb"<DTTM>(\d+)</DTTM>", raw))]
    assert times == sorted(times)
    assert stock.flops(5, skip=3) == stock.flops(8)[3:]


def test_a_whole_run_has_five_rounds_or_more() -> None:
    assert FULL.rounds >= 5


def test_an_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "speed"])
    assert ended.value.code == 2
    assert "floor" in capsys.readouterr().err
