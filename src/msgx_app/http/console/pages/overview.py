"""How everything is, and what needs somebody: the first page, which also answers without a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litestar import Response

from msgx_app.answers.services import Asked
from msgx_app.answers.situations import DAY_CONFLICTS, by_code, open_alerts, situations
from msgx_app.answers.status import gather
from msgx_app.http.console.charts import chart
from msgx_app.http.console.desk import Console, GivenConsole, shows
from msgx_app.http.console.ring import newly_dead, oldest_ages, rate_now, throughput
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.problems import problem_of
from msgx_app.http.replies import AnyRequest
from msgx_app.http.watch import Watch
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports import Inbox
from msgx_core.ports.operations import Row

ENTRY = Entry("overview", "/console", "now")
GROUPS_SHOWN = 5


@shows("/console")
async def overview(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """The first page."""
    watch = console.watch
    pulse = console.pulse
    lately = newly_dead(pulse.samples, pulse.last.badges.get("dead", 0), watch.clock.now())
    try:
        found = await console.office.work(lambda desk: _with_store(desk, watch, lately))
    except Exception as error:
        problem = problem_of(error)
        if problem.more.get("service") != "store":
            raise
        found = await console.office.without_store(lambda: _without_store(watch, problem.detail))
    return await console.show_plain(request, "overview.html", {**found, **_charts(console)})


def _with_store(desk: Desk, watch: Watch, lately: int) -> dict[str, Any]:
    now = desk.clock.now()
    lease = desk.store.lease()
    # Only when nobody takes it in is it worth a look how much lies in the mailbox.
    inbox = None if lease.holder is not None and lease.expires_in_s > 0 else _mailbox(desk)
    asked = Asked(watch.services.answers(), store=desk.store, inbox=inbox)
    status = {**gather(asked, now), "INSTANCE": watch.instance()}
    alerts = open_alerts(desk)
    failures = desk.store.failures(GROUPS_SHOWN)
    return _found(_with_outages(status, watch), alerts, lately, failures)


def _without_store(watch: Watch, detail: str) -> dict[str, Any]:
    asked = Asked(watch.services.answers(), store=None, inbox=None)
    status = {**gather(asked, watch.clock.now()), "INSTANCE": watch.instance()}
    for row in status["SERVICES"]:
        if row["SERVICE"] == "store" and row["OK"]:
            row |= {"OK": False, "ERROR": detail}
    return _found(_with_outages(status, watch), [], 0, [])


def _found(
    status: dict[str, Any], alerts: Sequence[Row], lately: int, failures: Sequence[Row]
) -> dict[str, Any]:
    return {
        "status": status,
        "day_conflicts": DAY_CONFLICTS,
        "situations": situations(status, alerts, lately),
        "alerts": by_code(alerts),
        "failures": failures,
    }


def _with_outages(status: dict[str, Any], watch: Watch) -> dict[str, Any]:
    """What this instance has met itself a moment ago is newer than the answers of those that were asked."""
    rows = {row["SERVICE"]: row for row in status["SERVICES"]}
    for outage in watch.monitor.outages():
        row = rows.get(outage.service, {"SERVICE": outage.service, "URL": ""})
        told = {"SINCE": outage.since, "DETAIL": outage.detail}
        rows[outage.service] = {**row, "OK": False, "OUTAGE": row.get("OUTAGE") or told}
    return {**status, "SERVICES": list(rows.values())}


def _mailbox(desk: Desk) -> Inbox | None:
    try:
        return desk.inbox
    except (ConfigError, Transient):
        return None


def _charts(console: Console) -> dict[str, Any]:
    samples, now = console.pulse.samples, console.office.clock.now()
    zone = console.office.policy.airport_zone
    return {
        "rate": rate_now(samples),
        "age_chart": chart(oldest_ages(samples), now, zone, ages=True),
        "rate_chart": chart(throughput(samples), now, zone),
    }
