"""`msgx run` whose service is not there when it starts: the console is, and says what to do."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from console_room import Visitor, text_of
from msgx_app.answers.advice import load_advice
from processes import embedded_folder, msgx, wait_for
from services.base import free_port

ADVICE = load_advice()
URLS = {
    "cache": "msgx.cache.url=redis://127.0.0.1:{port}/0",
    "bus": "msgx.bus.url=kafka://127.0.0.1:{port}",
    "mailbox": "msgx.mailbox.url=mysql://msgx:x@127.0.0.1:{port}/mailbox",
    "store": "msgx.store.url=postgresql://msgx:x@127.0.0.1:{port}/msgx",
}


def seen(who: Visitor) -> str:
    """The overview, or the error page in its place; nothing while nobody listens."""
    try:
        return text_of(who.get("/console").text)
    except httpx.TransportError:
        return ""


@pytest.mark.parametrize("service", URLS)
def test_a_service_that_is_not_there(tmp_path: Path, service: str) -> None:
    """The real clients, on a port where nobody listens."""
    config = embedded_folder(tmp_path / "set")
    port = free_port()
    nobody = URLS[service].format(port=free_port())
    log = (tmp_path / "log").open("w")
    process = msgx(config, "run", "--set", f"msgx.http.bind=127.0.0.1:{port}", "--set", nobody, log=log)
    try:
        who = Visitor(f"http://127.0.0.1:{port}")
        said = ADVICE.of("service", service, "en")
        assert said is not None
        wait_for(service, lambda: said.title in seen(who), within_s=60.0)
        text = seen(who)
        assert said.cause in text
        assert said.remedy in text
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        log.close()
