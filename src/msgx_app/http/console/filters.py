"""How values look: times of the airport and UTC, ages, numbers, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import jinja2
from markupsafe import Markup

from msgx_app.answers.machine import machine
from msgx_core.rules.render import utc_text

_STEPS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_NOTHING: Final = "–"


@jinja2.pass_context
def at(context: Any, value: datetime | None) -> str:
    """A moment: the airport's time, its date when that is not today's, and UTC beside it."""
    if value is None:
        return _NOTHING
    zone = context["zone"]
    local, today = value.astimezone(zone), context["now"].astimezone(zone).date()
    shown = f"{local:%H:%M:%S}" if local.date() == today else f"{local:%Y-%m-%d %H:%M:%S}"
    utc = value.astimezone(UTC)
    return Markup(
        '<time datetime="{machine}"><span class="local">{shown}</span> <span class="utc">{utc}</span></time>'
    ).format(machine=utc_text(utc), shown=shown, utc=f"{utc:%H:%M}Z")


@jinja2.pass_context
def age(context: Any, seconds: float | None) -> str:
    """A length of time in its two largest units."""
    if seconds is None:
        return _NOTHING
    left = max(0, int(seconds))
    said = []
    for size, unit in _STEPS:
        count, left = divmod(left, size)
        if count:
            said.append(context["t"](f"unit.{unit}", n=count))
        if len(said) == 2 or (said and not count):
            break
    return " ".join(said) or str(context["t"]("unit.second", n=0))


@jinja2.pass_context
def ago(context: Any, value: datetime | None) -> str:
    """How long a moment is past."""
    return _NOTHING if value is None else age(context, (context["now"] - value).total_seconds())


def number(value: float | None) -> str:
    """With thin spaces between thousands."""
    if value is None:
        return _NOTHING
    return f"{value:,.0f}".replace(",", "\u202f")


def pretty(value: Any) -> str:
    """As JSON over several lines."""
    return json.dumps(machine(value), ensure_ascii=False, indent=2)


def plain(value: Any) -> str:
    """A value of a message in one line; a dash for none."""
    found = machine(value)
    if found is None:
        return _NOTHING
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "at": at,
    "age": age,
    "ago": ago,
    "number": number,
    "pretty": pretty,
    "plain": plain,
}
