"""Values as JSON has them: UTC texts, days, no keys without value (D-30)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from msgx_core.rules.render import utc_text


def machine(value: Any) -> Any:
    """A value as JSON has it: UTC texts, days, no keys without value."""
    match value:
        case datetime():
            return utc_text(value.astimezone(UTC))
        case date():
            return value.isoformat()
        case enum.Enum():
            return value.value
        case Mapping():
            return {key: machine(each) for key, each in value.items() if each is not None}
        case list() | tuple():
            return [machine(each) for each in value]
        case set() | frozenset():
            return sorted(machine(each) for each in value)
        case _:
            return value
