"""Jobs and outages as rows for people and machines (D-04, D-34)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgx_core.model.job import Job, JobState
from msgx_core.model.outage import Outage
from msgx_core.ports import LeaseView, Store

_SCANNED = 1000
LEFT = "left by an instance that is gone; the next holder of the lease begins it again"


def job_row(job: Job, lease: Callable[[], LeaseView]) -> dict[str, Any]:
    """A job under the column names of `OPS_JOB`; `DETAIL` says when nobody is at work on one that was begun.

    `STARTED_AT` is when it was begun for the first time.
    """
    detail = LEFT if job.state is JobState.RUNNING and not _is_held(job, lease()) else job.detail
    return {
        "JOB_ID": job.job_id,
        "KIND": job.kind,
        "STATE": job.state,
        "CREATED_AT": job.created_at,
        "STARTED_AT": job.started_at,
        "ENDED_AT": job.ended_at,
        "DETAIL": detail,
        "COUNTS": dict(job.counts) or None,
        "EPOCH": job.epoch,
    }


def _is_held(job: Job, lease: LeaseView) -> bool:
    return lease.holder is not None and lease.expires_in_s > 0 and lease.epoch == job.epoch


def outages_met(store: Store, lease: LeaseView) -> Mapping[str, Outage]:
    """By service, what the holder of the lease cannot use now; what others have met tells of the past."""
    if lease.holder is None or lease.expires_in_s <= 0:
        return {}
    on = (outage for outage in store.outages() if outage.ended_at is None)
    return {outage.service: outage for outage in on if outage.epoch == lease.epoch}


def outage_row(outage: Outage) -> dict[str, Any]:
    """An outage under the column names of `OPS_OUTAGE`, its service apart."""
    return {"SINCE": outage.since, "DETAIL": outage.detail}


def outage_alerts(store: Store) -> list[dict[str, Any]]:
    """Outages that nobody has acknowledged; over where ENDED_AT is."""
    alerts = [alert for alert in store.alerts(limit=_SCANNED) if alert["CODE"] == "OUTAGE"]
    return [
        {"SINCE": alert["CREATED_AT"], "ENDED_AT": alert.get("ENDED_AT"), "DETAIL": alert.get("DETAIL")}
        for alert in alerts
    ]
