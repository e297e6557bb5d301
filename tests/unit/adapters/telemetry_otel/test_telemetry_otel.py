"""OpenTelemetry: a message is a span, its stages are spans inside it, log lines are their events."""

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from msgx_adapters.telemetry_otel import OtelTelemetry


def test_stages_are_spans_of_their_message() -> None:
    """The id of the message is on the outer span, and failures are told."""
    exporter = InMemorySpanExporter()
    telemetry = OtelTelemetry(exporter, instance="host:1:run")
    with telemetry.stage("process", msg_id=5):
        with telemetry.stage("apply"):
            telemetry.event("message-failed", msg_id=5, flids=[1, 2])
        with pytest.raises(ValueError, match="no"), telemetry.stage("cache"):
            raise ValueError("no")
    telemetry.count("msgx.intake.scanned", 1)
    telemetry.close()
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"msgx.process", "msgx.apply", "msgx.cache"}
    outer = spans["msgx.process"]
    assert dict(outer.attributes or {}) == {"msgx.msg_id": 5}
    for name in ("msgx.apply", "msgx.cache"):
        parent = spans[name].parent
        assert parent is not None
        assert parent.span_id == outer.context.span_id
    (event,) = spans["msgx.apply"].events
    assert event.name == "message-failed"
    assert dict(event.attributes or {}) == {"msgx.msg_id": 5, "msgx.flids": "[1, 2]"}
    assert spans["msgx.cache"].status.status_code is StatusCode.ERROR
    assert outer.status.status_code is not StatusCode.ERROR


def test_a_collector_that_is_not_there_costs_nothing() -> None:
    """Telemetry never fails: spans are lost, work goes on."""
    telemetry = OtelTelemetry.open("http://127.0.0.1:9/v1/traces", instance="x", timeout_s=0.2)
    with telemetry.stage("process", msg_id=1):
        pass
    telemetry.close()
