"""The texts of the pages: one catalogue for each language, and which language a browser wants."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from attrs import frozen

LANGUAGES: Final = ("en", "zh")
TAGS: Final[Mapping[str, str]] = {"en": "en", "zh": "zh-Hans"}
"""What `lang` of a page says."""


@frozen
class Words:
    """All texts of one language, by keys such as `nav.alerts`."""

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        """A text with its values filled in. Raises `KeyError`."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def name(self, kind: str, value: object) -> str:
        """What a value of a closed list is called, such as a state; itself when it has no name."""
        plain = str(getattr(value, "value", value))
        return self.texts.get(f"{kind}.{plain}", plain)


def load_words() -> dict[str, Words]:
    """Both catalogues, from the package."""
    return {language: Words(language, dict(_texts(language))) for language in LANGUAGES}


def language_of(cookie: str | None, accepted: str) -> str:
    """What somebody chose, or else the first that the browser accepts; English when it says nothing."""
    if cookie in LANGUAGES:
        return str(cookie)
    wanted = [_wish(part) for part in accepted[:500].split(",")]
    for _, language in sorted(wanted, key=lambda wish: -wish[0]):
        if language in LANGUAGES:
            return language
    return LANGUAGES[0]


def _wish(part: str) -> tuple[float, str]:
    tag, _, weight = part.partition(";")
    try:
        quality = float(weight.strip().removeprefix("q=") or 1)
    except ValueError:
        quality = 0.0
    return quality, tag.strip().lower().partition("-")[0]


def _texts(language: str) -> Iterator[tuple[str, str]]:
    found = files("msgx_app.http.console").joinpath("texts", f"{language}.toml").read_text("utf-8")
    return _flat(tomllib.loads(found))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, str):
            yield prefix + name, value
        else:
            yield from _flat(value, f"{prefix}{name}.")
