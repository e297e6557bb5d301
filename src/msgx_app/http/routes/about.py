"""Health, metrics, status, and the description of this interface."""

from __future__ import annotations

from typing import Any

from litestar import Response, get

from msgx_app.answers.services import Asked
from msgx_app.answers.status import gather
from msgx_app.daemon.monitor import Phase
from msgx_app.http.office import Desk, to_json
from msgx_app.http.problems import Problem
from msgx_app.http.replies import ANSWER, JSON, AnyRequest, GivenOffice, GivenWatch, needs, reads, reply
from msgx_app.http.watch import Watch
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports import ApiRole

_READY = (Phase.ACTIVE, Phase.STANDBY)


@get("/health/live", opt={ANSWER: "Health"})
async def live(watch: GivenWatch) -> Response[bytes]:
    """The process is alive, whatever it waits for."""
    return Response(to_json(_health(watch)), media_type=JSON)


@get("/health/ready", opt={ANSWER: "Health"})
async def ready(watch: GivenWatch) -> Response[bytes]:
    """It does its work, or stands by for it (`STATUS`). 503 while it starts, waits or stops."""
    health = _health(watch)
    phase = watch.monitor.phase()
    if phase.phase not in _READY:
        why = f"it waits for the {phase.detail}" if phase.phase is Phase.WAITING else "it starts or stops"
        raise Problem(503, why, more=health)
    return Response(to_json(health), media_type=JSON)


@get("/metrics", guards=[needs(ApiRole.READER)], opt={ANSWER: "Metrics"})
async def metrics(watch: GivenWatch) -> Response[bytes]:
    """All series for Prometheus; the gauges are at most a second old."""
    readings = await watch.gauges.readings()
    body, media_type = watch.metrics.exposition(readings)
    return Response(body, media_type=media_type)


@reads("/status", "Status")
async def status(office: GivenOffice, watch: GivenWatch) -> Response[bytes]:
    """Head and its age, counts, write-back, outbox, requests, alerts, lease, services, and this instance."""

    def gathered(desk: Desk) -> dict[str, Any]:
        try:
            inbox = desk.inbox
        except (ConfigError, Transient):
            inbox = None
        asked = Asked(watch.services.answers(), store=desk.store, inbox=inbox)
        return {**gather(asked, desk.clock.now()), "INSTANCE": watch.instance()}

    return await reply(office, gathered)


@reads("/openapi.json", "OpenApi")
async def openapi(request: AnyRequest) -> Response[bytes]:
    """This interface as an OpenAPI document."""
    from msgx_app.http.openapi import document

    return Response(to_json(document(request.app)), media_type=JSON)


def _health(watch: Watch) -> dict[str, Any]:
    return {
        "STATUS": watch.monitor.phase().phase.value,
        "SINCE": watch.monitor.phase().since,
        "OUTAGES": sorted(outage.service for outage in watch.monitor.outages()),
    }
