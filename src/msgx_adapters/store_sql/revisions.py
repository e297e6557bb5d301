"""The revisions of a schema that this program knows, and what it says to a store at another one.

A revision is a number of four digits, that of a script `r0001_….py` for alembic. Knowing them needs no
alembic.
"""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

from msgx_core.errors import ConfigError, MsgxError

_SCRIPT = re.compile(r"r(\d{4})_\w+\.py")
NO_ALEMBIC = "alembic is needed for it and not installed: pip install alembic (it comes with msgx[embedded])"


class InUse(MsgxError):
    """A running msgx holds the lease of a store whose schema is to be changed."""

    def __init__(self, store: str, holder: str) -> None:
        super().__init__(
            f"{store} is in use by {holder}: stop msgx on all machines, then run `msgx migrate` again"
        )
        self.holder = holder


@frozen
class Revisions:
    """What is in a folder of revision scripts."""

    folder: Path

    def numbers(self) -> tuple[str, ...]:
        """All revisions, oldest first."""
        return tuple(sorted(m[1] for f in self.folder.iterdir() if (m := _SCRIPT.fullmatch(f.name))))

    @property
    def newest(self) -> str:
        """The one that this program reads and writes."""
        return self.numbers()[-1]

    def is_older(self, store: str, found: str) -> bool:
        """Whether `found` is behind the newest revision; `ConfigError` when this program does not know it."""
        numbers = self.numbers()
        if found in numbers:
            return found != numbers[-1]
        if found.isdecimal() and int(found) > int(numbers[-1]):
            raise ConfigError(
                [
                    f"{store} has schema revision {found}, this msgx knows {numbers[-1]} at most:"
                    " use the newer msgx again"
                ]
            )
        raise ConfigError(
            [f"{store} has schema revision {found!r}, which no msgx that this one knows of has made"]
        )

    def must_fit(self, store: str, found: str | None) -> None:
        """`ConfigError` with the remedy unless a store is at the newest revision; None: it has no schema."""
        if found is None:
            raise ConfigError(
                [f"{store} has no schema yet, this msgx needs revision {self.newest}: run `msgx migrate`"]
            )
        if self.is_older(store, found):
            raise ConfigError(
                [
                    f"{store} has schema revision {found}, this msgx needs {self.newest}:"
                    " stop msgx and run `msgx migrate`"
                ]
            )


def without_revision(store: str) -> ConfigError:
    """For a store that has our tables and does not say at which revision they are."""
    return ConfigError(
        [
            f"{store} has tables of msgx but no schema revision (table alembic_version):"
            " restore it from a backup, or make a new store"
        ]
    )


def no_alembic(store: str, found: str | None, revisions: Revisions) -> ConfigError:
    """For an upgrade where alembic is not installed."""
    return ConfigError(
        [f"{store} must be upgraded from schema revision {found} to {revisions.newest}; {NO_ALEMBIC}"]
    )
