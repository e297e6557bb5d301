"""Telemetry for Prometheus: counters and distributions kept in memory, and the text that is scraped."""

from msgx_adapters.telemetry_prometheus.telemetry import PrometheusTelemetry

__all__ = ["PrometheusTelemetry"]
