"""Every boundary between two steps of the pipeline, by name: where a process may be gone (IMP §9.2).

The pipeline tells its `on_step` each boundary that it passes, with the name of what has just been done.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen


class Step(enum.StrEnum):
    """What has just been done; what comes next has not begun."""

    LEASE_TAKEN = "lease-taken"
    TRY_COUNTED = "try-counted"
    CACHE_LOST = "cache-lost"
    CACHE_PAGE = "cache-page"
    CACHE_REBUILT = "cache-rebuilt"
    SCANNED = "scanned"
    ENQUEUED = "enqueued"
    EXHAUSTED = "exhausted"
    TRYING = "trying"
    FETCHED = "fetched"
    EVIDENCE_KEPT = "evidence-kept"
    BOUND = "bound"
    DECIDED = "decided"
    APPLIED = "applied"
    CACHED = "cached"
    FINISHED = "finished"
    CLOSED = "closed"
    FAILED = "failed"
    LOGGED = "logged"
    TRY_ENDED = "try-ended"
    CLAIMED = "claimed"
    MARKED = "marked"
    MARKS_SETTLED = "marks-settled"
    MARK_RETRIED = "mark-retried"
    MARK_ABANDONED = "mark-abandoned"
    CLAIMS_RELEASED = "claims-released"
    PUBLISHED = "published"
    EVENTS_SETTLED = "events-settled"
    REQUESTS_EXPIRED = "requests-expired"
    DAILY_ASKED = "daily-asked"
    SEND_BEGUN = "send-begun"
    SEND_INSERTED = "send-inserted"
    SEND_SEARCHED = "send-searched"
    SEND_CONFIRMED = "send-confirmed"
    SEND_LOST = "send-lost"
    HISTORY_SELECTED = "history-selected"
    HISTORY_WRITTEN = "history-written"
    ARCHIVED = "archived"
    DEPARTURE_KEPT = "departure-kept"
    KEYS_WRITTEN = "keys-written"
    KEYS_SETTLED = "keys-settled"
    EXPIRED_REMOVED = "expired-removed"
    HISTORY_REMOVED = "history-removed"
    EVIDENCE_REMOVED = "evidence-removed"
    REPLAYED = "replayed"
    JOB_STARTED = "job-started"
    JOB_NOTED = "job-noted"
    JOB_ENDED = "job-ended"
    OUTAGE_TOLD = "outage-told"


@frozen
class Boundary:
    """The part of the pipeline that passes it, what is on disk there, and what the next process does."""

    part: str
    on_disk: str
    recovery: str


BOUNDARIES: Mapping[Step, Boundary] = MappingProxyType(
    {
        Step.LEASE_TAKEN: Boundary(
            "start", "the lease, a new epoch", "takes the lease when it has run out, and is suspicious"
        ),
        Step.TRY_COUNTED: Boundary(
            "start",
            "the attempt of a try that was cut off",
            "goes on with the head; at the last attempt it is `DEAD(EXHAUSTED)`",
        ),
        Step.CACHE_LOST: Boundary(
            "start",
            "the alert; the cache is empty or of another store",
            "finds it lost still, says so again, fills it",
        ),
        Step.CACHE_PAGE: Boundary(
            "start",
            "a part of the cache, without the store's id",
            "fills it from the start: a cache without an id is not used",
        ),
        Step.CACHE_REBUILT: Boundary("start", "the whole cache, with the store's id", "finds it right"),
        Step.SCANNED: Boundary("intake", "rows in the mailbox alone", "scans again"),
        Step.ENQUEUED: Boundary("intake", "a page of rows as `PENDING`", "processes them"),
        Step.EXHAUSTED: Boundary(
            "processing", "`DEAD(EXHAUSTED)`, write-back intent, alert", "goes on with the next head"
        ),
        Step.TRYING: Boundary("processing", "`TRYING` of a suspect head", "counts one attempt, tries again"),
        Step.FETCHED: Boundary("processing", "nothing new", "tries again"),
        Step.EVIDENCE_KEPT: Boundary(
            "processing",
            "the raw text in the archive",
            "tries again; the object is put in place of the same one",
        ),
        Step.BOUND: Boundary(
            "processing", "the identity, unless another message has it", "tries again under that identity"
        ),
        Step.DECIDED: Boundary("processing", "nothing new", "decides again on what is there then"),
        Step.APPLIED: Boundary(
            "processing",
            "① flights, events, alerts, `APPLIED_AT`",
            "does ② from the stored state, then ③; nothing is applied twice",
        ),
        Step.CACHED: Boundary("processing", "② the cache as well", "does ② once more, to no effect, then ③"),
        Step.FINISHED: Boundary(
            "processing",
            "③ `SUCCEEDED` and write-back intent",
            "goes on with the next head and marks the row",
        ),
        Step.CLOSED: Boundary(
            "processing",
            "`SKIPPED` or `DEAD`, write-back intent, alerts",
            "goes on with the next head and marks the row",
        ),
        Step.FAILED: Boundary(
            "processing", "`FAILED`, one attempt counted", "tries again when its pause is over"
        ),
        Step.LOGGED: Boundary("processing", "the schedule log as well", "goes on with the next head"),
        Step.TRY_ENDED: Boundary("processing", "`TRYING` cleared", "goes on with the next head"),
        Step.CLAIMED: Boundary(
            "write-back", "claims on rows that are due", "marks the rows when the claims have run out"
        ),
        Step.MARKED: Boundary(
            "write-back",
            "marks in the mailbox, the intents still open",
            "finds them marked; the same time is never written over",
        ),
        Step.MARKS_SETTLED: Boundary(
            "write-back", "`BACKFILL_AT` of the rows that are marked", "has nothing to do for these rows"
        ),
        Step.MARK_RETRIED: Boundary(
            "write-back", "one try counted of a row that was refused", "tries again when its pause is over"
        ),
        Step.MARK_ABANDONED: Boundary("write-back", "a row given up, and its alert", "leaves it to a person"),
        Step.CLAIMS_RELEASED: Boundary("write-back", "no claim: the mailbox did not answer", "tries again"),
        Step.PUBLISHED: Boundary(
            "relays",
            "records on the bus, their events still `PENDING`",
            "sends them again; consumers compare versions",
        ),
        Step.EVENTS_SETTLED: Boundary(
            "relays",
            "`SENT`, or counted, or dead with an alert",
            "sends what is left, and what was refused when its pause is over",
        ),
        Step.REQUESTS_EXPIRED: Boundary("requests", "`EXPIRED(timeout)`", "has nothing to do"),
        Step.DAILY_ASKED: Boundary("requests", "the daily request as `PENDING`", "sends it"),
        Step.SEND_BEGUN: Boundary(
            "requests",
            "`SEND_STARTED_AT` and a `SEQN`; nothing in the outbound table",
            "does not find the row: `FAILED(send-lost)` and an alert, no second row",
        ),
        Step.SEND_INSERTED: Boundary(
            "requests",
            "the row in the outbound table, the request `PENDING`",
            "finds the row: `SENT`, no second row",
        ),
        Step.SEND_SEARCHED: Boundary(
            "requests", "nothing new: the outbound table was searched", "searches again"
        ),
        Step.SEND_CONFIRMED: Boundary("requests", "`SENT`", "waits for the answer"),
        Step.SEND_LOST: Boundary(
            "requests", "`FAILED(send-lost)` and its alert", "leaves it to a person, or to the daily job"
        ),
        Step.HISTORY_SELECTED: Boundary("history sweep", "nothing new", "selects again"),
        Step.HISTORY_WRITTEN: Boundary(
            "history sweep",
            "records in the history store, the flights as well",
            "writes them again in their own place, then removes the flights",
        ),
        Step.ARCHIVED: Boundary(
            "history sweep",
            "flights gone, floors, tombstones, `CACHE_PENDING`",
            "settles the cache keys before anything else; the floors stand for the step",
        ),
        Step.DEPARTURE_KEPT: Boundary(
            "history sweep", "the sweep's step in the archive", "settles the cache keys before anything else"
        ),
        Step.KEYS_WRITTEN: Boundary(
            "history sweep", "the cache as well, its keys still pending", "settles them again"
        ),
        Step.KEYS_SETTLED: Boundary("history sweep", "no key pending", "goes on"),
        Step.EXPIRED_REMOVED: Boundary("retention", "a batch of old rows gone", "removes the rest"),
        Step.HISTORY_REMOVED: Boundary("retention", "old history gone", "finds nothing more"),
        Step.EVIDENCE_REMOVED: Boundary("retention", "old days of the archive gone", "finds nothing more"),
        Step.REPLAYED: Boundary("replay", "messages `PENDING` again, audited", "processes them"),
        Step.JOB_STARTED: Boundary("jobs", "the job `RUNNING`", "begins the job again"),
        Step.JOB_NOTED: Boundary("jobs", "how far it is, or what it waits for", "begins the job again"),
        Step.JOB_ENDED: Boundary("jobs", "`DONE` or `FAILED`", "goes on with the next job"),
        Step.OUTAGE_TOLD: Boundary(
            "outages", "the outage, or its end, and its alert", "goes on with that outage; no second alert"
        ),
    }
)
"""All of them, in the order of a message's way."""


def no_step(name: str) -> None:
    """The default step hook: nothing happens between steps."""
