"""What is wrong and what to do, for people at night: texts in `advice.toml`, in each language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from attrs import frozen

FALLBACK = "en"


@frozen
class Remedy:
    """`title` is what is wrong in a few words, `cause` what is behind it, `remedy` what to do first.

    `anchor` is where a runbook has more: `<kind>-<name>`, in small letters.
    """

    anchor: str
    title: str
    cause: str
    remedy: str


@frozen
class Advice:
    """By kind (`alert`, `service`, `reason`, `situation`), name and language."""

    texts: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]]

    def of(self, kind: str, name: str, language: str) -> Remedy | None:
        """The advice; None: there is none under that name."""
        found = self.texts.get(kind, {}).get(name)
        if found is None:
            return None
        said = found.get(language) or found[FALLBACK]
        return Remedy(f"{kind}-{name.lower()}", said["title"], said["cause"], said["remedy"])

    def of_reason(self, reason: str | None, language: str) -> Remedy | None:
        """The advice on a message's reason, whatever follows its colon."""
        return None if reason is None else self.of("reason", reason.partition(":")[0], language)


def load_advice() -> Advice:
    """All of it, from the package."""
    found: Any = tomllib.loads(files("msgx_app.answers").joinpath("advice.toml").read_text("utf-8"))
    return Advice(found)
