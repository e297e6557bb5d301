"""Health and metrics: in every phase, while services are down, on a standby."""

from __future__ import annotations

import json
import socket
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from http_room import Room, http_room, settings_of
from msgx_app.backends import open_metrics
from msgx_app.daemon import Phase
from msgx_app.http.front import Front
from msgx_app.settings.network import Bind
from msgx_cli import environment
from msgx_core.errors import Transient
from msgx_core.model.proc import NewMessage
from msgx_core.ports.metrics import METRICS
from processes import embedded_folder, msgx, wait_for
from wire import flop, fltr, gate, schedule


def series(room: Room) -> dict[str, float]:
    """Samples by name and labels."""
    answer = room.get("/metrics")
    assert answer.status_code == 200
    return {
        sample.name + "".join(f" {k}={v}" for k, v in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_message_is_seen_in_every_metric_on_its_way() -> None:
    """For each stage a count, a duration, the last success; gauges as the store has them."""
    with http_room(settings_of()) as room:
        room.finish(schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("B1")), b"<MSG/>")
        wait_for("marks and events", lambda: series(room)["msgx_writeback_done_total"] == 3)
        wait_for("events", lambda: series(room).get("msgx_event_pending target=KAFKA:msg") == 0)
        found = series(room)
    assert found["msgx_terminal_total code= state=SUCCEEDED"] == 2
    assert found["msgx_terminal_total code=MALFORMED state=DEAD"] == 1
    for stage, least in (("process", 3), ("apply", 2), ("cache", 2), ("finish", 3), ("relay-msg", 1)):
        assert found[f"msgx_stage_total result=ok stage={stage}"] >= least
        assert found[f"msgx_stage_duration_seconds_count stage={stage}"] >= least
        assert found[f"msgx_stage_last_success_timestamp_seconds stage={stage}"] > 1.7e9
    assert found["msgx_stage_total result=error stage=decode"] == 1
    assert found["msgx_pipeline_backlog_oldest_unprocessed_seconds"] == 0
    assert found["msgx_messages state=SUCCEEDED"] == 2
    assert found["msgx_flights state=ACTIVE"] == 2
    assert found["msgx_event_sent_total target=KAFKA:msg"] == 3
    assert found["msgx_lease_held"] == found["msgx_store_up"] == found["msgx_phase phase=ACTIVE"] == 1
    assert found["msgx_http_requests_total status=2xx"] >= 3
    known = {metric.exposed for metric in METRICS.values()}
    for name in found:
        base = name.split()[0]
        assert base in known or base.rsplit("_", 1)[0] in known, f"{base} is in no table"


def test_the_age_of_the_head_is_told() -> None:
    """R-076, R-431: the first that has not ended, since it was taken in; 0 without one."""
    with http_room(settings_of(), active=False) as room:
        name = "msgx_pipeline_backlog_oldest_unprocessed_seconds"
        assert series(room)[name] == 0
        assert room.store.acquire_lease("test", 60.0).granted
        now = room.daemon.container.clock.now()
        for number, age_s in ((1, 90), (2, 3_600)):
            room.store.enqueue([NewMessage(number, now)], now - timedelta(seconds=age_s))
        wait_for("a new count", lambda: series(room)[name] > 0)
        assert 90 <= series(room)[name] < 150, "the head is the smallest id, not the longest here"


def test_every_gauge_of_the_table_is_shown() -> None:
    """A metric that nothing ever sets would be a promise that nobody keeps."""
    with http_room(settings_of()) as room:
        wait_for("the loops", lambda: "msgx_loop_last_success_timestamp_seconds loop=jobs" in series(room))
        room.finish(schedule("DNLD", [fltr(1)]))
        wait_for("the stages", lambda: any("stage=finish" in name for name in series(room)))
        shown = {name.split()[0] for name in series(room)}
    gauges = {metric.exposed for metric in METRICS.values() if metric.kind.value == "gauge"}
    assert gauges <= shown


def test_the_phase_is_told_and_standby_is_ready() -> None:
    """`/health/ready` says STANDBY, and reading works there too."""
    with http_room(settings_of(), active=False) as room:
        assert room.get("/health/live").json()["STATUS"] == "STARTING"
        starting = room.get("/health/ready")
        assert (starting.status_code, starting.json()["STATUS"]) == (503, "STARTING")
        assert room.store.acquire_lease("somebody-else", 60.0).granted
        room.daemon.start()
        wait_for("standby", lambda: room.daemon.monitor.phase().phase is Phase.STANDBY)
        ready = room.get("/health/ready")
        assert (ready.status_code, ready.json()["STATUS"]) == (200, "STANDBY")
        assert "somebody-else" not in ready.text
        assert room.json("/api/v1/flights") == []
        assert room.send(flop(1, "GTDT", gate("A1"))).status_code == 202
        assert series(room)["msgx_lease_held"] == 0
        assert series(room)["msgx_phase phase=STANDBY"] == 1
        room.store.release_lease()


def test_a_store_that_is_down_is_a_problem_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with the service; metrics of this process go on, those of the store are left out."""

    def down(*given: object, **more: object) -> object:
        raise Transient("store", "connection refused")

    with http_room(settings_of()) as room:
        assert series(room)["msgx_store_up"] == 1
        for name in ("flights", "counts", "message", "tokens"):
            monkeypatch.setattr(room.store, name, down, raising=False)
        answer = room.get("/api/v1/flights")
        assert answer.status_code == 503
        assert answer.json()["service"] == "store"
        assert answer.headers["retry-after"]
        wait_for("the scrape to see it", lambda: series(room)["msgx_store_up"] == 0)
        assert "msgx_messages state=SUCCEEDED" not in series(room)
        assert room.get("/health/live").status_code == 200
        monkeypatch.undo()


def test_http_answers_before_anything_can_be_opened() -> None:
    """While the store does not answer: health says for whom it waits, everything else is a 503."""
    from msgx_app.backends import system_clock
    from msgx_app.daemon.monitor import Monitor
    from msgx_core.ports import Silent

    clock = system_clock()
    monitor = Monitor(clock)
    metrics = open_metrics(clock)
    front = Front(
        settings_of(store_url="postgresql://u:p@127.0.0.1:1/none", timeouts_store="1s"),
        Bind("127.0.0.1", 0),
        monitor=monitor,
        metrics=metrics,
        telemetry=Silent(),
        clock=clock,
        holder="x",
    )
    front.start()
    try:
        monitor.enter(Phase.WAITING, "store")
        address = front.address(20.0)
        assert address is not None
        with httpx.Client(base_url=f"http://127.0.0.1:{address[1]}", trust_env=False, timeout=20) as client:
            ready = client.get("/health/ready")
            assert ready.status_code == 503
            assert "store" in ready.json()["detail"]
            assert client.get("/health/live").status_code == 200
            answer = client.get("/api/v1/flights")
            assert answer.status_code == 503
            assert "store" in answer.json()["detail"]
    finally:
        front.stop()


def test_a_taken_address_stops_nothing(tmp_path: Path) -> None:
    """The pipeline goes on; the log says which address, and it is tried again."""
    config = embedded_folder(tmp_path / "airport")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = msgx(config, "run", "--json", "--set", f"msgx.http.bind=127.0.0.1:{port}")
        told = []
        assert process.stderr is not None
        for line in process.stderr:
            told.append(json.loads(line)["event"])
            if {"lease-taken", "http-unavailable"} <= set(told):
                break
        taken.close()
        for line in process.stderr:
            told.append(json.loads(line)["event"])
            if "http-listening" in told:
                break
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert "http-listening" in told


def test_the_tests_own_daemons_have_no_address() -> None:
    """Else two of them at once would be in each other's way."""
    assert environment()["MSGX_HTTP_BIND"] == "off"
