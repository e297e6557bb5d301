"""A stand-in for Elasticsearch: just the calls that msgx makes, over HTTP, and every way they can go wrong.

It is no Elasticsearch: what it does not check (rights, mappings, versions) a test cannot tell.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from attrs import define, field

_PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
_INFO = {"name": "stub", "cluster_name": "stub", "version": {"number": "9.1.0", "build_flavor": "default"}}


@define
class Elastic:
    """The index as a dictionary by document id, and what to do with which flight.

    `items` by FLID: a status that the item gets instead of being kept, or `missing` (kept, but its result is
    left out). `whole`: `status:N`, `garbage`, `hang`, `cut`, or None; `hangs` are FLIDs whose call hangs.
    `owned`: we may put no template.
    """

    port: int = 0
    documents: dict[str, Any] = field(factory=dict)
    templates: dict[str, Any] = field(factory=dict)
    calls: list[str] = field(factory=list)
    items: dict[int, int | str] = field(factory=dict)
    hangs: set[int] = field(factory=set)
    whole: str | None = None
    owned: bool = False
    hang_s: float = 1.5
    authorization: str | None = None

    @property
    def url(self) -> str:
        """What msgx is given."""
        return f"elasticsearch://127.0.0.1:{self.port}/flights"

    def records(self) -> Mapping[tuple[int, int], Mapping[str, Any]]:
        """Documents by FLID and version."""
        return {(d["FLID"], d["STATE_VERSION"]): d for d in self.documents.values()}

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Nothing but 503."""
        self.whole = "status:503"
        try:
            yield
        finally:
            self.whole = None

    def bulk(self, text: str) -> dict[str, Any]:
        """The answer to `_bulk`; keeps what is to be kept."""
        lines = [json.loads(line) for line in text.splitlines() if line]
        results = []
        for action, source in zip(lines[::2], lines[1::2], strict=True):
            name, what = action["index"]["_id"], self.items.get(source["FLID"])
            if isinstance(what, int):
                error = {"type": "stub_exception", "reason": "told to"}
                results.append({"index": {"_id": name, "status": what, "error": error}})
                continue
            status = 200 if name in self.documents else 201
            self.documents[name] = source
            if source["FLID"] in self.hangs:
                time.sleep(self.hang_s)
            if what != "missing":
                results.append({"index": {"_id": name, "status": status, "result": "created"}})
        errors = any("error" in result["index"] for result in results)
        return {"took": 1, "errors": errors, "items": results}

    def old(self, body: Mapping[str, Any]) -> list[str]:
        """The names of documents in a range of `ENDED_AT`."""
        before = datetime.fromisoformat(body["query"]["range"]["ENDED_AT"]["lt"])
        return [n for n, d in self.documents.items() if datetime.fromisoformat(d["ENDED_AT"]) < before]

    def delete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to `_delete_by_query` with a range of `ENDED_AT`."""
        old = self.old(body)
        for name in old:
            del self.documents[name]
        return {"deleted": len(old), "failures": []}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    elastic: Elastic

    def do_any(self) -> None:
        """Every request."""
        elastic = self.elastic
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        path = self.path.partition("?")[0]
        elastic.calls.append(f"{self.command} {path}")
        elastic.authorization = self.headers.get("Authorization")
        if path.startswith("/_index_template/") and elastic.owned:
            return self._send(403, {"error": {"type": "security_exception"}, "status": 403})
        match (elastic.whole or "").partition(":"):
            case ("status", _, number):
                return self._send(int(number), {"error": {"type": "stub"}, "status": int(number)})
            case ("garbage", _, _):
                return self._raw(200, b"<html>")
            case ("hang", _, _):
                time.sleep(elastic.hang_s)
            case ("cut", _, _):
                self.close_connection = True
                self.connection.close()
                return None
        return self._send(200, self._answer(path, text))

    do_GET = do_PUT = do_POST = do_HEAD = do_any

    def _answer(self, path: str, text: str) -> dict[str, Any]:
        if path.endswith("/_bulk"):
            return self.elastic.bulk(text)
        if path.endswith("/_delete_by_query"):
            return self.elastic.delete(json.loads(text))
        if path.endswith("/_count"):
            return {"count": len(self.elastic.old(json.loads(text)))}
        if path.startswith("/_index_template/"):
            self.elastic.templates[path.rpartition("/")[2]] = json.loads(text)
            return {"acknowledged": True}
        return _INFO

    def _send(self, status: int, body: Mapping[str, Any]) -> None:
        self._raw(status, json.dumps(body).encode())

    def _raw(self, status: int, body: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in {**_PRODUCT, "Content-Type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the client has not waited

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def elastic() -> Iterator[Elastic]:
    """A stand-in that listens on a port of its own."""
    made = Elastic()
    handler = type("Handler", (_Handler,), {"elastic": made})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
