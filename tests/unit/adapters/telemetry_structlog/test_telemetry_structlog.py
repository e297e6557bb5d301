"""Log lines and counters of the embedded set."""

import io
import json
import threading
from datetime import UTC, date, datetime

import pytest

from msgx_adapters.telemetry_structlog import StructlogTelemetry
from msgx_core.ports.telemetry import Telemetry
from msgx_core.testing.clock import ManualClock

CLOCK = ManualClock(datetime(2021, 1, 23, 4, 0, 0, 123_456, tzinfo=UTC))


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_it_is_a_telemetry() -> None:
    telemetry: Telemetry = StructlogTelemetry(clock=CLOCK)
    telemetry.count("a")


def test_an_event_is_one_json_line() -> None:
    stream = io.StringIO()
    telemetry = StructlogTelemetry(clock=CLOCK, stream=stream)
    telemetry.event("msgx.message.done", msg_id=7, name="北京\n首都", at=CLOCK.now(), day=date(2021, 1, 23))
    assert stream.getvalue() == (
        '{"timestamp":"2021-01-23T04:00:00.123+00:00","event":"msgx.message.done","msg_id":7,'
        '"name":"北京\\n首都","at":"2021-01-23T04:00:00.123456+00:00","day":"2021-01-23"}\n'
    )


def test_an_event_is_readable_on_a_console(capsys: pytest.CaptureFixture[str]) -> None:
    """To standard error as it is at that time."""
    StructlogTelemetry(clock=CLOCK, renderer="console").event("msgx.started", epoch=3, day=date(2021, 1, 23))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("2021-01-23T04:00:00.123+00:00 msgx.started ")
    assert sorted(err.split()[2:]) == ["day=2021-01-23", "epoch=3"]


def test_an_exception_is_told_with_its_traceback() -> None:
    stream = io.StringIO()
    StructlogTelemetry(clock=CLOCK, stream=stream).event("msgx.failed", exc_info=ValueError("bad day"))
    assert "ValueError: bad day" in json.loads(stream.getvalue())["exception"]


def test_any_field_name_will_do() -> None:
    stream = io.StringIO()
    fields = dict.fromkeys(["event", "timestamp", "self", "method_name", "logger", "name", "level"], 1)
    telemetry = StructlogTelemetry(clock=CLOCK, stream=stream)
    telemetry.event("msgx.started", **fields)
    line = json.loads(stream.getvalue())
    assert line["event"] == "msgx.started"
    assert [key for key, value in line.items() if value == 1] == [
        *("event_", "timestamp_", "self_", "method_name_", "logger", "name", "level")
    ]


@pytest.mark.parametrize("renderer", ["json", "console"])
def test_it_never_raises(renderer: str) -> None:
    """A value that cannot be shown, a stream that is closed: counted, and life goes on."""
    stream = io.StringIO()
    telemetry = StructlogTelemetry(
        clock=CLOCK, renderer="json" if renderer == "json" else "console", stream=stream
    )
    telemetry.event("msgx.started", value=Unshowable())
    stream.close()
    telemetry.event("msgx.started")
    assert telemetry.snapshot() == {"msgx.telemetry.lost": 2}


def test_counts_and_distributions_add_up() -> None:
    telemetry = StructlogTelemetry(clock=CLOCK)
    telemetry.count("msgx.intake.inserted", 3)
    telemetry.count("msgx.done", styp="ADFT", state="DEAD")
    telemetry.count("msgx.done", 2, state="DEAD", styp="ADFT")
    for value in (0.5, 2.0, 1.5):
        telemetry.observe("msgx.step_seconds", value, step="store")
    seen = telemetry.snapshot()
    assert seen == {
        "msgx.intake.inserted": 3,
        'msgx.done{state="DEAD",styp="ADFT"}': 3,
        'msgx.step_seconds_count{step="store"}': 3,
        'msgx.step_seconds_sum{step="store"}': 4.0,
        'msgx.step_seconds_max{step="store"}': 2.0,
    }
    seen.clear()
    assert len(telemetry.snapshot()) == 5


def test_threads_lose_no_count_and_mix_no_lines() -> None:
    stream = io.StringIO()
    telemetry = StructlogTelemetry(clock=CLOCK, stream=stream)

    def work() -> None:
        for n in range(200):
            telemetry.count("n")
            telemetry.event("msgx.n", n=n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert telemetry.snapshot() == {"n": 800}
    assert len([json.loads(line) for line in stream.getvalue().splitlines()]) == 800
