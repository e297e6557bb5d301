"""Stages as spans, events inside them as events of the span."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Status, StatusCode, get_current_span
from opentelemetry.util.types import AttributeValue

_PREFIX = "msgx."


class OtelTelemetry:
    """Implements `Telemetry`. Thread-safe; never raises. Numbers are not its business.

    Nothing is global: the provider belongs to this object, and `close` sends what is left.
    """

    def __init__(self, exporter: SpanExporter, *, instance: str) -> None:
        resource = Resource.create({SERVICE_NAME: "msgx", SERVICE_INSTANCE_ID: instance})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        # A bounded queue in a thread of its own: a collector that is down costs spans, never time.
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("msgx")

    @classmethod
    def open(cls, endpoint: str, *, instance: str, timeout_s: float = 5.0) -> OtelTelemetry:
        """Spans go to an OTLP collector over HTTP, such as `http://127.0.0.1:4318/v1/traces`."""
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return cls(OTLPSpanExporter(endpoint=endpoint, timeout=timeout_s), instance=instance)

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Nothing."""

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Nothing."""

    def event(self, name: str, /, **fields: object) -> None:
        """An event of the span that is open in this thread, if there is one."""
        get_current_span().add_event(name, _attributes(fields))

    @contextmanager
    def stage(self, name: str, /, **fields: object) -> Iterator[None]:
        """A span, a child of the one around it; failed when the work raises."""
        with self._tracer.start_as_current_span(
            _PREFIX + name,
            attributes=_attributes(fields),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))
                raise

    def close(self) -> None:
        """Send what is left, for a short time."""
        self._provider.force_flush(1000)
        self._provider.shutdown()


def _attributes(fields: dict[str, object]) -> dict[str, AttributeValue]:
    return {
        _PREFIX + name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in fields.items()
        if value is not None
    }
