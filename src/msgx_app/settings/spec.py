"""How a setting is declared: one line per setting with its kind, default, legal values and meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar, cast

import attrs

from .kinds import Kind

T = TypeVar("T")

SPEC: Final = "msgx"
PREFIX: Final = "msgx."
ENV_PREFIX: Final = "MSGX_"
# What typed-settings reads its help text from.
_HELP: Final = "typed-settings"


@attrs.frozen
class Follow:
    """A default that depends on another setting: `rule` makes it from the value of `key`."""

    key: str
    words: str
    rule: Callable[[Any], object] = lambda leader: leader


@attrs.frozen
class Spec:
    """What an attribute of a settings class carries about itself."""

    kind: Kind[Any]
    default: str | None
    meaning: str
    secret: bool
    follow: Follow | None


@attrs.frozen
class Setting:
    """One setting as users see it; `key` is `msgx.pipeline.claim-batch`, `path` `pipeline.claim_batch`."""

    key: str
    path: str
    env: str
    spec: Spec

    @property
    def default_text(self) -> str:
        """The default as a user would write it, or in words when it follows another setting."""
        if self.spec.follow is not None:
            return self.spec.follow.words
        return "none, required" if self.spec.default is None else self.spec.default


def setting(
    kind: Kind[T], default: str | None, meaning: str, *, secret: bool = False, follow: Follow | None = None
) -> T:
    """Declare an attribute of a settings class. `default` is text of the same form as in a file.

    None makes the setting required. With `follow`, `default` only serves objects built directly;
    the loader takes the other setting's value.
    """
    spec = Spec(kind, default, meaning, secret, follow)
    declared: Any = attrs.field(
        default=attrs.NOTHING if default is None else default,
        converter=kind,
        metadata={SPEC: spec, _HELP: {"help": meaning}},
    )
    return cast(T, declared)


def group(cls: type[T]) -> T:
    """Declare an attribute that holds a nested group with all its defaults."""
    return attrs.field(factory=cls)


def key_of(path: str) -> str:
    """`pipeline.claim_batch` → `msgx.pipeline.claim-batch`."""
    return PREFIX + path.replace("_", "-")


def env_of(path: str) -> str:
    """`pipeline.claim_batch` → `MSGX_PIPELINE_CLAIM_BATCH`."""
    return ENV_PREFIX + path.replace(".", "_").upper()


def walk(cls: type[attrs.AttrsInstance], prefix: str = "") -> Iterator[Setting]:
    """All settings below the settings class `cls`, in the order of declaration."""
    for attribute in attrs.fields(attrs.resolve_types(cls)):
        path = prefix + attribute.name
        spec = attribute.metadata.get(SPEC)
        if isinstance(spec, Spec):
            yield Setting(key_of(path), path, env_of(path), spec)
        else:
            yield from walk(attribute.type, f"{path}.")
