"""Counters, distributions and stages as Prometheus series; gauges come with each scrape."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import GaugeMetricFamily

from msgx_core.ports.clock import Clock
from msgx_core.ports.metrics import FROM_THE_START, METRICS, Metric, MetricKind, Reading

M = TypeVar("M", bound=MetricWrapperBase)

MAX_SERIES = 200
"""Label values of one metric that are told apart; later ones are counted together."""

OTHER = "other"
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LAST_SUCCESS = "msgx.stage.last-success"


class PrometheusTelemetry:
    """Implements `Telemetry`. Thread-safe; never raises. Events are not its business.

    Only metrics of `ports.metrics` are kept: what is not in the table is dropped.
    """

    def __init__(self, clock: Clock) -> None:
        # Of the package as a whole: the time of making beside each counter is of no use to anybody.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._clock = clock
        self._registry = CollectorRegistry()
        self._counters = {
            m.name: _Family(Counter(m.exposed, m.meaning, m.labels, registry=self._registry), m)
            for m in _of(MetricKind.COUNTER)
        }
        for name, values in FROM_THE_START.items():
            for value in values:
                self._counters[name].child(dict.fromkeys(METRICS[name].labels, value))
        self._histograms = {
            m.name: _Family(
                Histogram(m.exposed, m.meaning, m.labels, registry=self._registry, buckets=_BUCKETS), m
            )
            for m in _of(MetricKind.HISTOGRAM)
        }
        success = METRICS[_LAST_SUCCESS]
        gauge = Gauge(success.exposed, success.meaning, success.labels, registry=self._registry)
        self._successes = _Family(gauge, success)
        self._stages: dict[str, _StageSeries] = {}

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        family = self._counters.get(name)
        if family is not None and n >= 0:
            family.child(labels).inc(n)

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Add to a distribution."""
        family = self._histograms.get(name)
        if family is not None:
            family.child(labels).observe(value)

    def event(self, name: str, /, **fields: object) -> None:
        """Nothing: lines are another telemetry's."""

    def stage(self, name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Count, time, and note the success of what is inside."""
        series = self._stages.get(name)
        if series is None:
            series = self._stages[name] = self._series_of(name)
        return _Stage(series, self._clock)

    def _series_of(self, stage: str) -> _StageSeries:
        done = self._counters["msgx.stage.done"]
        return _StageSeries(
            done.child({"stage": stage, "result": "ok"}),
            done.child({"stage": stage, "result": "error"}),
            self._histograms["msgx.stage.duration"].child({"stage": stage}),
            self._successes.child({"stage": stage}),
        )

    def exposition(self, readings: Iterable[Reading] = ()) -> tuple[bytes, str]:
        """All series as text, with the gauges of this scrape, and the content type of it."""
        scrape = CollectorRegistry()
        scrape.register(_Readings(readings))
        return generate_latest(self._registry) + generate_latest(scrape), CONTENT_TYPE_LATEST


class _StageSeries(NamedTuple):
    """The series of one stage, looked up once: they are on the way of every message."""

    good: Counter
    bad: Counter
    duration: Histogram
    success: Gauge


class _Stage:
    """One piece of work, timed."""

    __slots__ = ("_clock", "_series", "_started_s")

    def __init__(self, series: _StageSeries, clock: Clock) -> None:
        self._series = series
        self._clock = clock
        self._started_s = 0.0

    def __enter__(self) -> None:
        self._started_s = self._clock.monotonic_s()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        series = self._series
        series.duration.observe(self._clock.monotonic_s() - self._started_s)
        if kind is None:
            series.good.inc()
            series.success.set(self._clock.now().timestamp())
        else:
            series.bad.inc()


class _Family(Generic[M]):
    """The series of one metric by label values, few enough for any wire."""

    def __init__(self, parent: M, metric: Metric) -> None:
        self._parent = parent
        self._names = metric.labels
        self._children: dict[tuple[str, ...], M] = {}
        self._guard = threading.Lock()

    def child(self, labels: Mapping[str, str]) -> M:
        """The series of these label values."""
        values = tuple(labels.get(name, "") for name in self._names)
        found = self._children.get(values)
        return self._made(values) if found is None else found

    def _made(self, values: tuple[str, ...]) -> M:
        if not values:
            return self._parent
        with self._guard:
            if len(self._children) >= MAX_SERIES:
                values = tuple(OTHER for _ in values)
            found = self._children.get(values)
            if found is None:
                found = self._children[values] = self._parent.labels(*values)
            return found


class _Readings:
    """Gauges of one scrape as a collector."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._readings = list(readings)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """One family for each metric that has readings."""
        families: dict[str, GaugeMetricFamily] = {}
        for reading in self._readings:
            metric = METRICS[reading.name]
            family = families.get(metric.name)
            if family is None:
                family = GaugeMetricFamily(metric.exposed, metric.meaning, labels=metric.labels)
                families[metric.name] = family
            family.add_metric(list(reading.labels), reading.value)
        yield from families.values()


def _of(kind: MetricKind) -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.kind is kind]
