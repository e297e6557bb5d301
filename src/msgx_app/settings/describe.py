"""The configuration as rows, for `msgx config show` and for the generated documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from .schema import catalogue
from .text import has_secret, text_of

if TYPE_CHECKING:
    from .load import LoadedSettings


@frozen
class SettingRow:
    """One setting in force; `secret` tells that `value_text` hides something."""

    key: str
    value_text: str
    origin: str
    default_text: str
    meaning: str
    secret: bool
    legal: str
    env: str


def describe(loaded: LoadedSettings) -> list[SettingRow]:
    """All settings in the order of the documentation; passwords and tokens masked."""
    rows = []
    for setting in catalogue().values():
        value = loaded.settings.value(setting.path)
        rows.append(
            SettingRow(
                key=setting.key,
                value_text=_value_text(value, setting.default_text),
                origin=loaded.origins[setting.key],
                default_text=setting.default_text,
                meaning=setting.spec.meaning,
                secret=has_secret(value),
                legal=setting.spec.kind.legal,
                env=setting.env,
            )
        )
    return rows


def _value_text(value: object, default_text: str) -> str:
    if value is None and default_text == "none":
        return default_text
    return text_of(value)
