"""What needs somebody now, the worst first: from the status and the open alerts, for `advice` to explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from attrs import frozen

from msgx_app.answers.parts import WithStore
from msgx_core.ports.operations import Row

HEAD_OLD_S: Final = 60.0
EVENTS_LATE_S: Final = 120.0
MARKS_LATE: Final = 1000
PILING: Final = 10
"""More dead letters than that within a quarter of an hour are no chance."""

DAY_CONFLICTS: Final = ("SAME_FLID_ACROSS_OPERATION_DAYS", "ROSTER_DAY_MISMATCH")
ALERTS_SCANNED: Final = 1000


@frozen
class Situation:
    """`kind` and `name` are those of `advice`; `tone` is bad, warn or info; `facts` are what services say.

    `place` names the page that has more, `target` the thing on it, `count` how many there are.
    """

    kind: str
    name: str
    tone: str
    facts: str = ""
    place: str = ""
    target: int | None = None
    count: int | None = None
    since: datetime | None = None


def open_alerts(at: WithStore) -> list[Row]:
    """Those that nobody has acknowledged, oldest first; of very many the first."""
    return list(at.store.alerts(limit=ALERTS_SCANNED))


def situations(status: Mapping[str, Any], alerts: Sequence[Row], dead_lately: int) -> list[Situation]:
    """In the order in which somebody should look at them; none: all is well."""
    found = [
        *_services(status),
        *_instance(status),
        *_head(status),
        *_conflicts(alerts),
        *_left_over(status, dead_lately),
        *_loops(status),
        *_standby(status),
    ]
    return sorted(found, key=lambda each: ("bad", "warn", "info").index(each.tone))


def _services(status: Mapping[str, Any]) -> Iterator[Situation]:
    for row in status["SERVICES"]:
        if not row["OK"]:
            outage = row.get("OUTAGE") or {}
            facts = row.get("ERROR") or outage.get("DETAIL") or ""
            yield Situation("service", row["SERVICE"], "bad", facts, since=outage.get("SINCE"))


def _instance(status: Mapping[str, Any]) -> Iterator[Situation]:
    phase = status["INSTANCE"]["PHASE"]
    if phase == "WAITING":
        yield Situation("situation", "waiting", "bad", status["INSTANCE"].get("DETAIL") or "")
    if "LEASE" in status and not status["LEASE"]["HELD"]:
        waiting = (status.get("MAILBOX") or {}).get("NOT_TAKEN_IN")
        yield Situation("situation", "no-active", "bad", count=waiting)


def _standby(status: Mapping[str, Any]) -> Iterator[Situation]:
    lease = status.get("LEASE", {})
    if status["INSTANCE"]["PHASE"] == "STANDBY" and lease.get("HELD"):
        yield Situation("situation", "standby", "info", str(lease["HOLDER"]))


def _head(status: Mapping[str, Any]) -> Iterator[Situation]:
    head = status.get("HEAD")
    if head is None:
        return
    state, age_s = getattr(head["STATE"], "value", head["STATE"]), head["AGE_S"]
    said = " · ".join(str(head[name]) for name in ("ERROR_CODE", "REASON", "DETAIL") if head.get(name))
    if state == "FAILED":
        yield Situation("situation", "head-stuck", "bad", said, "message", head["MSG_ID"], head["ATTEMPTS"])
    elif age_s > HEAD_OLD_S:
        yield Situation("situation", "head-old", "warn", said, "message", head["MSG_ID"])


def _conflicts(alerts: Sequence[Row]) -> Iterator[Situation]:
    for code in DAY_CONFLICTS:
        rows = [row for row in alerts if row["CODE"] == code]
        if rows:
            last = rows[-1]
            facts, target = last.get("DETAIL") or "", last.get("MSG_ID")
            yield Situation(
                "alert", code, "bad", facts, "message" if target else "alerts", target, len(rows),
                last["CREATED_AT"],
            )  # fmt: skip


def _left_over(status: Mapping[str, Any], dead_lately: int) -> Iterator[Situation]:
    dead = status.get("MESSAGES", {}).get("DEAD", 0)
    if dead_lately > PILING:
        yield Situation("situation", "dead-piling", "bad", "", "messages", count=dead)
    elif dead:
        yield Situation("situation", "dead-messages", "warn", "", "messages", count=dead)
    owed = status.get("WRITEBACK", {})
    if owed.get("ABANDONED"):
        yield Situation("situation", "writeback-abandoned", "warn", "", "writeback", count=owed["ABANDONED"])
    if owed.get("PENDING", 0) > MARKS_LATE:
        yield Situation("situation", "writeback-late", "warn", "", "writeback", count=owed["PENDING"])
    for target, statuses in status.get("OUTBOX", {}).items():
        if statuses.get("DEAD"):
            yield Situation("situation", "dead-events", "warn", target, "outbox", count=statuses["DEAD"])
    for target, oldest in status.get("OLDEST_UNSENT", {}).items():
        if oldest["AGE_S"] > EVENTS_LATE_S:
            yield Situation("situation", "events-late", "warn", target, "outbox", since=oldest["AT"])


def _loops(status: Mapping[str, Any]) -> Iterator[Situation]:
    down = {row["SERVICE"] for row in status["SERVICES"] if not row["OK"]}
    for loop in status["INSTANCE"]["LOOPS"]:
        problem = loop.get("PROBLEM")
        if problem and not any(service in problem for service in down):
            yield Situation("situation", "loop-problem", "warn", f"{loop['LOOP']}: {problem}")


def by_code(alerts: Sequence[Row]) -> list[tuple[str, int, Row]]:
    """Open alerts by code, most first: how many, and the newest."""
    counts = Counter(row["CODE"] for row in alerts)
    newest = {row["CODE"]: row for row in alerts}
    return [(code, n, newest[code]) for code, n in counts.most_common()]
