"""The documents for consumers of the topics, by name: JSON Schemas and AsyncAPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any, Final

from msgx_app.settings import Settings
from msgx_core.rules import schemas
from msgx_core.rules.policy import TimeFormat


def _time_format(settings: Settings) -> TimeFormat:
    return TimeFormat(settings.events.time_format.value)


def _flight(settings: Settings) -> dict[str, Any]:
    return schemas.document("Full state of a flight", schemas.flight_schema(_time_format(settings)))


def _notice(settings: Settings) -> dict[str, Any]:
    return schemas.document("A value of the topic msg", schemas.notice_schema())


def _package(settings: Settings) -> dict[str, Any]:
    return schemas.document("A value of the topic schd", schemas.package_schema(_time_format(settings)))


def _async_api(settings: Settings) -> dict[str, Any]:
    topic = settings.kafka.topic
    return schemas.async_api(installed_version(), topic.msg, topic.schd, _time_format(settings))


FILES: Final[Mapping[str, Callable[[Settings], dict[str, Any]]]] = MappingProxyType(
    {
        "flight.schema.json": _flight,
        "msg.schema.json": _notice,
        "schd.schema.json": _package,
        "asyncapi.json": _async_api,
    }
)
"""How each file is made."""


def installed_version() -> str:
    """The version that runs."""
    try:
        return version("msgx")
    except PackageNotFoundError:
        return "not installed"
