"""One shape for every error: problem details (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from attrs import field, frozen

from msgx_app.answers.machine import machine
from msgx_app.refusals import BadValue, Missing, Negative
from msgx_core.errors import ConfigError, MsgxError, Rejected, Transient

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5


@frozen
class Problem(Exception):
    """What went wrong. `more` are members beside those of the RFC, `headers` go with the answer."""

    status: int
    detail: str
    title: str = ""
    more: Mapping[str, Any] = field(factory=dict)
    headers: Mapping[str, str] = field(factory=dict)

    def document(self, instance: str) -> dict[str, Any]:
        """The members; `type` is `about:blank`: the status says what kind it is."""
        return {
            "type": "about:blank",
            "title": self.title or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            **self.more,
        }

    def body(self, instance: str) -> bytes:
        """The members as JSON."""
        return json.dumps(machine(self.document(instance))).encode()


def busy(detail: str, *, status: int = 503, after_s: int = RETRY_AFTER_S) -> Problem:
    """Not now, but soon."""
    return Problem(status, detail, headers={"Retry-After": str(after_s)})


def problem_of(error: Exception) -> Problem:
    """What an exception of ours means to a client; of others it says no more than that they are a fault."""
    match error:
        case Problem():
            return error
        case Transient(service=service, detail=detail):
            text = f"the {service} does not answer: {detail}"
            return Problem(503, text, more={"service": service}, headers={"Retry-After": str(RETRY_AFTER_S)})
        case ConfigError(problems=problems):
            return Problem(503, "; ".join(problems), title="Misconfigured")
        case _:
            status = next((status for kind, status in _STATUSES if isinstance(error, kind)), None)
    return FAULT if status is None else Problem(status, str(error))


_STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (Missing, 404),
    (Negative, 409),
    (BadValue, 422),
    (Rejected, 422),
    (MsgxError, 409),
)
FAULT: Final = Problem(500, "this is a fault of msgx itself; its log says more")
