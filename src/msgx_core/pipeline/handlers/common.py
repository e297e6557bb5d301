"""What several handlers share."""

from __future__ import annotations

from collections.abc import Sequence

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import FlightSnapshot
from msgx_core.pipeline.desk import Desk, Work
from msgx_core.rules.records import BadValue
from msgx_core.rules.snapshot_log import seqn_regressed

_ALERTING = {
    "SAME_FLID_ACROSS_OPERATION_DAYS": AlertCode.SAME_FLID_ACROSS_OPERATION_DAYS,
    "roster-day-mismatch": AlertCode.ROSTER_DAY_MISMATCH,
}
_SHOWN = 5


def day_alert(error: Protocol, msg_id: int) -> tuple[Alert, ...]:
    """The alert of a day or roster conflict; none for other errors (D-10, D-11)."""
    code = _ALERTING.get(error.reason.split(":")[0])
    return () if code is None else (Alert(code, msg_id, error.flid, error.detail),)


def bad_values(work: Work, dropped: Sequence[BadValue]) -> tuple[str | None, tuple[Alert, ...]]:
    """The place of dropped values for `DETAIL`, and the one alert about them (D-14, D-41)."""
    if not dropped:
        return None, ()
    more = f"; and {len(dropped) - _SHOWN} more" if len(dropped) > _SHOWN else ""
    detail = f"taken as absent: {'; '.join(_place(work, bad) for bad in dropped[:_SHOWN])}{more}"
    return detail, (Alert(AlertCode.BAD_VALUE, work.msg_id, dropped[0].flid, detail),)


def _place(work: Work, bad: BadValue) -> str:
    error = Malformed(bad.reason, flid=bad.flid, tag=bad.tag, text=bad.text, record=bad.record)
    work.locate(error)
    return error.detail or ""


def observe(work: Work, desk: Desk, snapshot: FlightSnapshot, truncated: int = 0) -> None:
    """Counts that decide nothing: ignored tags, cut route points, `SEQN` going down."""
    for tag, n in work.message.ignored.items():
        desk.telemetry.count("msgx.decode.ignored", n, tag=tag)
    if truncated:
        desk.telemetry.count("msgx.route.truncated", truncated)
    if seqn_regressed(snapshot.sender, work.message.meta):
        desk.telemetry.count("msgx.seqn.regression")
