"""What the board shows, read from the store as any other client would."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_app.container import Container
from msgx_app.daemon import Monitor, PhaseView
from msgx_app.demo.feed import Feeder
from msgx_app.demo.flights import BoardLine, board_line
from msgx_app.simulator import SimulationPlan
from msgx_core.model.flight import FlightState
from msgx_core.model.outage import Outage
from msgx_core.ports.operations import Counts, MessageFilter, Row

_PAGE = 500
_NEWS = 30
_KEPT_BEHIND = timedelta(minutes=25)


@frozen
class News:
    """A message that has come to its end, in words."""

    msg_id: int
    kind: str
    state: str
    text: str


@frozen
class Look:
    """One look at the running demonstration; `now` is the airport's simulated local time."""

    now: datetime
    sent: int
    total: int
    lines: Sequence[BoardLine]
    counts: Counts
    head_age_s: float | None
    reasons: Mapping[tuple[str, str], int]
    news: Sequence[News]
    phase: PhaseView
    outages: Sequence[Outage]

    @property
    def finished(self) -> int:
        """Messages that have come to their end."""
        return sum(self.counts.messages.get(state, 0) for state in ("SUCCEEDED", "SKIPPED", "DEAD"))

    @property
    def unsent(self) -> int:
        """Events on their way."""
        return sum(statuses.get("PENDING", 0) for statuses in self.counts.events.values())

    @property
    def all_done(self) -> bool:
        """Everything that was sent is finished, marked and told."""
        return self.finished >= self.total and not self.unsent and not self.counts.writeback_pending


class Watcher:
    """Looks again and again; reads each finished message once."""

    def __init__(self, container: Container, plan: SimulationPlan, feeder: Feeder, monitor: Monitor) -> None:
        self._container = container
        self._feeder = feeder
        self._monitor = monitor
        self._start = datetime.combine(plan.day, datetime.min.time(), ZoneInfo(plan.timezone))
        self._after = 0
        self._reasons: Counter[tuple[str, str]] = Counter()
        self._news: deque[News] = deque(maxlen=_NEWS)

    def look(self) -> Look:
        """How things are."""
        store = self._container.store
        flights = all_flights(self._container)
        self._read_on(flights)
        now = (self._start + timedelta(seconds=self._feeder.offset_s)).replace(tzinfo=None)
        lines = [line for line in map(board_line, flights.values()) if line is not None]
        lines.sort(key=lambda line: (line.at, line.flight))
        head = store.head()
        age_s = None if head is None else (self._container.clock.now() - head.enqueued_at).total_seconds()
        return Look(
            now=now,
            sent=self._feeder.sent,
            total=self._feeder.total,
            lines=[line for line in lines if line.at >= now - _KEPT_BEHIND],
            counts=store.counts(),
            head_age_s=age_s,
            reasons=dict(self._reasons),
            news=tuple(self._news),
            phase=self._monitor.phase(),
            outages=self._monitor.outages(),
        )

    def _read_on(self, flights: Mapping[int, FlightState]) -> None:
        """Messages end in the order of their ids, so those behind the last one read are new."""
        while True:
            rows = self._container.store.messages(MessageFilter(after=self._after, limit=_PAGE))
            done = [row for row in rows if row["STATE"] not in ("PENDING", "FAILED")]
            for row in done:
                self._after = row["MSG_ID"]
                if row["STATE"] == "DEAD":
                    self._reasons[row.get("ERROR_CODE", ""), reason_group(row)] += 1
            self._news.extend(self._news_of(row, flights) for row in done[-_NEWS:])
            if len(done) < _PAGE:
                return

    def _news_of(self, row: Row, flights: Mapping[int, FlightState]) -> News:
        kind = " ".join(row[key] for key in ("TYPE", "STYP") if key in row) or "?"
        text = row.get("REASON", "")
        if row["STATE"] == "SUCCEEDED":
            text = self._effect(row["MSG_ID"], flights)
        elif row["STATE"] == "DEAD":
            text = f"{row.get('ERROR_CODE', '')} {text}"
        return News(row["MSG_ID"], kind, row["STATE"], text)

    def _effect(self, msg_id: int, flights: Mapping[int, FlightState]) -> str:
        events = self._container.store.message_events(msg_id)
        if not events:
            return ""
        payload = events[0]["PAYLOAD"]
        flight = flights.get(payload["FLID"])
        flno = payload["FLID"] if flight is None else flight.fields.get("FLNO", payload["FLID"])
        if len(events) > 2:
            return f"{len(events)} flights"
        what = "deleted" if payload["KIND"] == "DELETE" else ", ".join(payload["CHANGED"][:4]) or "unchanged"
        return f"{flno} v{payload['STATE_VERSION']}: {what}"


def all_flights(container: Container) -> dict[int, FlightState]:
    """Every flight of the store by FLID."""
    found: dict[int, FlightState] = {}
    after = 0
    while page := container.store.flights(after=after, limit=_PAGE):
        found.update((flight.flid, flight) for flight in page)
        after = page[-1].flid
    return found


def reason_group(row: Row) -> str:
    """The reason without what is particular to the message."""
    return str(row.get("REASON", "")).partition(":")[0]
