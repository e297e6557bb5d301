"""The HTTP interface on the servers that airports run: messages, tokens, and each of them frozen."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from processes import wait_for
from real_set import TIMEOUTS, RealSet, real_set
from services.base import free_port
from wire import flop, fltr, gate, schedule


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    folder: Path = tmp_path_factory.mktemp("real")
    with real_set(folder, **TIMEOUTS) as made:
        yield made


def client_of(port: int, **headers: str) -> httpx.Client:
    return httpx.Client(
        base_url=f"http://127.0.0.1:{port}", headers=headers, trust_env=False, timeout=httpx.Timeout(30.0)
    )


def answers(client: httpx.Client, path: str) -> int:
    """The status, or 0 while nobody listens."""
    try:
        return client.get(path).status_code
    except httpx.TransportError:
        return 0


def test_on_the_real_set(real: RealSet) -> None:
    """A message in over HTTP and out again; tokens; a frozen store is named in time; stopped in time."""
    port = free_port()
    with (
        real.daemon("http", MSGX_HTTP_BIND=f"127.0.0.1:{port}") as process,
        client_of(port) as client,
    ):
        wait_for("ready", lambda: answers(client, "/health/ready") == 200, within_s=60)
        for raw in (schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("B12"))):
            assert client.post("/cminmsgs/send", content=raw).status_code == 202
        wait_for("the gate", lambda: "GTDT" in client.get("/api/v1/flights/1").text, within_s=60)
        real.wait_idle()
        assert len(client.get("/api/v1/outbox?target=msg&status=SENT").json()) == 3
        found = client.get("/api/v1/status").json()
        assert all(row["OK"] for row in found["SERVICES"]), found["SERVICES"]
        assert found["MESSAGES"] == {"SUCCEEDED": 2}

        token = (
            real.msgx().ok("token", "create", "desk", "--role", "operator", "--reason", "x", "--json").json
        )
        wait_for("the closed door", lambda: answers(client, "/api/v1/flights") == 401)
        client.headers["Authorization"] = f"Bearer {token['TOKEN']}"
        made = client.post("/api/v1/requests", json={"ref": "GLST", "reason": "a gate is missing"})
        assert made.status_code == 201
        audit = real.sql("SELECT ACTOR, REASON FROM OPS_AUDIT ORDER BY AUDIT_ID DESC LIMIT 1")
        assert audit == [{"ACTOR": "desk", "REASON": "a gate is missing"}]

        real.servers["store"].freeze()
        try:
            began_s = time.monotonic()
            answer = client.get("/api/v1/flights")
            assert time.monotonic() - began_s < 20
            assert answer.status_code == 503
            assert "store" in answer.json()["detail"]
            assert answers(client, "/health/live") == 200
            assert client.get("/metrics").status_code == 200
        finally:
            real.servers["store"].thaw()
        wait_for("flights again", lambda: answers(client, "/api/v1/flights") == 200, within_s=60)

        real.servers["mailbox"].freeze()
        try:
            answer = client.post("/api/v1/messages/1/readmit", json={"reason": "x"})
            assert answer.status_code == 409
            assert client.get("/api/v1/messages/1/raw").status_code == 503
        finally:
            real.servers["mailbox"].thaw()
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0
        assert time.monotonic() - began_s < 12
