"""Telemetry as structured log lines and counters in memory."""

from .telemetry import StructlogTelemetry

__all__ = ["StructlogTelemetry"]
