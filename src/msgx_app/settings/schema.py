"""All settings as one value, and the catalogue of them that loader, `config show` and docs share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from operator import attrgetter
from types import MappingProxyType

from attrs import frozen

from . import flow, output, running
from .spec import Setting, group, walk


@frozen(kw_only=True)
class Settings:
    """The configuration in force. Only `airport` has no default: its code is required."""

    airport: flow.AirportSettings
    sis: flow.SisSettings = group(flow.SisSettings)
    identity: flow.IdentitySettings = group(flow.IdentitySettings)
    pipeline: flow.PipelineSettings = group(flow.PipelineSettings)
    archive: flow.ArchiveSettings = group(flow.ArchiveSettings)
    ref: flow.RefSettings = group(flow.RefSettings)
    mailbox: flow.MailboxSettings = group(flow.MailboxSettings)
    event: output.EventSettings = group(output.EventSettings)
    schd: output.SchdSettings = group(output.SchdSettings)
    flop: output.FlopSettings = group(output.FlopSettings)
    route: output.RouteSettings = group(output.RouteSettings)
    kafka: output.KafkaSettings = group(output.KafkaSettings)
    events: output.EventsSettings = group(output.EventsSettings)
    requests: output.RequestsSettings = group(output.RequestsSettings)
    outbound: output.OutboundSettings = group(output.OutboundSettings)
    history: output.HistorySettings = group(output.HistorySettings)
    lease: running.LeaseSettings = group(running.LeaseSettings)
    store: running.StoreSettings = group(running.StoreSettings)
    cache: running.CacheSettings = group(running.CacheSettings)
    bus: running.BusSettings = group(running.BusSettings)
    http: running.HttpSettings = group(running.HttpSettings)
    otel: running.OtelSettings = group(running.OtelSettings)
    timeouts: running.TimeoutSettings = group(running.TimeoutSettings)

    def value(self, path: str) -> object:
        """The value at `pipeline.claim_batch` (a `Setting.path`)."""
        return attrgetter(path)(self)


@cache
def catalogue() -> Mapping[str, Setting]:
    """Every setting by its key, in the order of the documentation."""
    return MappingProxyType({found.key: found for found in walk(Settings)})
