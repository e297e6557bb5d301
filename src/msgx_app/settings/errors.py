"""What is wrong with a configuration: each problem with its key, value, origin and what is legal."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from msgx_core.errors import ConfigError


@frozen
class Problem:
    """One thing that keeps the configuration from being used.

    `key` is empty when the whole file is meant; `value` is already fit to be shown (secrets masked,
    long texts cut) and None when no value was given; `origin` says where it came from; `legal` is a
    clause that follows the colon: "must be …", "is required …", "is no setting …".
    """

    key: str
    value: str | None
    origin: str
    legal: str

    def __str__(self) -> str:
        if not self.key:
            return f"{self.origin}: {self.legal}"
        if self.value is None:
            return f"{self.key} ({self.origin}): {self.legal}"
        return f"{self.key} = {self.value} (from {self.origin}): {self.legal}"


class ConfigProblems(ConfigError):
    """All problems of a configuration at once: `found` as values, `problems` as sentences."""

    def __init__(self, found: Iterable[Problem]) -> None:
        self.found: tuple[Problem, ...] = tuple(found)
        super().__init__(str(problem) for problem in self.found)


class Invalid(ValueError):
    """A value that a setting does not take; the text is the clause "must be …"."""
