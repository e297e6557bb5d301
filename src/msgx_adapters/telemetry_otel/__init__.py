"""Telemetry for OpenTelemetry: each stage of a message is a span (`pip install 'msgx[otel]'`)."""

from msgx_adapters.telemetry_otel.telemetry import OtelTelemetry

__all__ = ["OtelTelemetry"]
