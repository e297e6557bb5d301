"""Every metric as data: its dotted name in the code, its name for Prometheus, its labels and its meaning.

Adapters, the HTTP room, the documentation, the dashboard and the alert rules follow this table; tests compare
it with the code and with `deploy/`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from msgx_core.model.schedule import SnapshotFlag


class MetricKind(enum.Enum):
    """How values become a series."""

    COUNTER = "counter"
    HISTOGRAM = "histogram"
    GAUGE = "gauge"


@frozen
class Metric:
    """One metric. `exposed` is the name that is scraped, a counter's with `_total`."""

    name: str
    exposed: str
    kind: MetricKind
    labels: tuple[str, ...]
    meaning: str


@frozen
class Reading:
    """A gauge at a scrape: its dotted name, its value, its label values in the order of the table."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


STAGES: Mapping[str, str] = MappingProxyType(
    {
        "intake": "one scan of the mailbox to its end",
        "process": "one message from head to end",
        "fetch": "its text out of the mailbox",
        "archive": "its text into the evidence archive",
        "decode": "its text read",
        "decide": "what the rules make of it",
        "apply": "① flights, events and alerts written",
        "cache": "② the snapshot cache written",
        "finish": "③ terminal state and write-back intent written",
        "write-back": "one sweep of the marks that are owed",
        "relay-msg": "one batch of `msg` given to the bus and settled",
        "relay-schd": "one batch of `schd` given to the bus and settled",
        "requests": "requests expired, asked for and sent",
        "history": "ended flights moved to the history store",
        "retention": "what is old enough removed",
    }
)
"""Each stage of the way, and what one piece of its work is."""

# Kind, name, name for Prometheus where it does not follow from that, labels, meaning.
_TABLE = """
counter | msgx.stage.done | msgx_stage_total | stage result | pieces of work of a stage, by result: ok, error
histogram | msgx.stage.duration | | stage | how long a piece of work took
gauge | msgx.stage.last-success | msgx_stage_last_success_timestamp_seconds | stage | its last success
counter | msgx.intake.scanned | | | unmarked mailbox rows seen by scans
counter | msgx.intake.inserted | | | messages taken in
counter | msgx.process.terminal | msgx_terminal_total | state code | messages that came to their end
counter | msgx.process.failed | | code | attempts that failed and will be tried again
counter | msgx.process.conflicts | | | decisions taken again (D-02)
histogram | msgx.process.duration | | state | a message's time at the head
counter | msgx.decode.ignored | | tag | tags outside the model (D-14)
counter | msgx.route.truncated | | | route points left off (D-19)
counter | msgx.seqn.regression | | | SEQNs below the sender's last one
counter | msgx.snapshot.flags | | flag | flags of the schedule log (D-16)
counter | msgx.trace.errors | | | schedule log rows that were lost (R-130)
counter | msgx.backfill.done | msgx_writeback_done_total | | marks written into the mailbox
counter | msgx.backfill.abandoned | msgx_writeback_given_up_total | | write-backs given up
counter | msgx.event.sent | | target | events that the bus has
counter | msgx.event.refused | | target | events that the bus refused
counter | msgx.requests.asked | | | daily requests made
counter | msgx.requests.sent | | | requests sent
counter | msgx.requests.lost | | | requests that were begun and are not there
counter | msgx.requests.expired | | | requests without an answer
counter | msgx.history.archived | | | flights moved to the history store
counter | msgx.history.ended | | | flights found to have ended
counter | msgx.history.busy | | | ended flights that an unfinished message holds
counter | msgx.history.unconfirmed | | | flights that the history store refused
counter | msgx.history.kept | | | ended flights that moved on meanwhile
counter | msgx.history.notified | | | main flights told of a child that left
counter | msgx.history.keys | | | cache keys settled after the sweep
counter | msgx.history.keys.refused | | | cache keys that were refused
counter | msgx.archive.written | | | texts kept as evidence
counter | msgx.archive.failed | | | archive writes and reads that failed (D-36)
counter | msgx.archive.skipped | | | texts not kept while the archive is down
counter | msgx.archive.removed | | | archive objects removed by age
counter | msgx.retention.removed | | object | rows removed by age
counter | msgx.loop.errors | | loop | unexpected exceptions of the daemon's loops
counter | msgx.telemetry.lost | | | log lines that could not be written
counter | msgx.http.requests | | status | HTTP requests answered, by class of status
counter | msgx.http.refused | | why | HTTP requests refused before they were looked at
histogram | msgx.http.duration | msgx_http_request_duration_seconds | | time of an HTTP request
gauge | msgx.pipeline.backlog.oldest_unprocessed_seconds | | | age of the head; 0 without one (R-076)
gauge | msgx.pipeline.backlog.unprocessed | | | messages not finished
gauge | msgx.messages | | state | messages in the store
gauge | msgx.flights | | state | flights in the store
gauge | msgx.backfill.pending | msgx_writeback_pending | | marks owed to the mailbox
gauge | msgx.backfill.given-up | msgx_writeback_abandoned | | abandoned write-backs that wait for a person
gauge | msgx.event.pending | | target | events not sent yet
gauge | msgx.event.dead | | target | events given up that wait for a person
gauge | msgx.event.oldest_seconds | | target | age of the oldest unsent event
gauge | msgx.requests.open | | | requests that wait for an answer
gauge | msgx.alerts.open | | | alerts that nobody has acknowledged
gauge | msgx.lease.held | | | 1 where this instance is the active one
gauge | msgx.lease.epoch | | | the epoch of the lease (D-34)
gauge | msgx.phase | | phase | 1 for the phase that this instance is in
gauge | msgx.outage | | service | 1 for each service that does not answer now
gauge | msgx.loop.last-success | msgx_loop_last_success_timestamp_seconds | loop | its last good step
gauge | msgx.store.up | | | 1 when the store answered for this scrape
gauge | msgx.build | msgx_build_info | version | 1 for the version that runs
"""

_SUFFIX = {MetricKind.COUNTER: "_total", MetricKind.HISTOGRAM: "_seconds", MetricKind.GAUGE: ""}


def _metric(line: str) -> Metric:
    kind_text, name, exposed, labels, meaning = (part.strip() for part in line.split("|"))
    kind = MetricKind(kind_text)
    derived = name.replace(".", "_").replace("-", "_") + _SUFFIX[kind]
    return Metric(name, exposed or derived, kind, tuple(labels.split()), meaning)


METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for metric in map(_metric, _TABLE.strip().splitlines())}
)
"""All metrics by their dotted names."""

_LOOPS = "outages lease poller pump relay-msg relay-schd jobs ops-jobs retention history archive write-back"
LOOPS = tuple(_LOOPS.split())
"""The loops that there can be."""

FROM_THE_START: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"msgx.loop.errors": LOOPS, "msgx.snapshot.flags": tuple(flag.value for flag in SnapshotFlag)}
)
"""Values of the one label of counters that begin at 0: of a new series an alert rule sees no increase."""
