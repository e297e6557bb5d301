"""Loading the configuration: file, environment, command line, checks; all problems at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar, cast

import attrs
from typed_settings.dict_utils import merge_settings
from typed_settings.types import MergedSettings

from .checks import check
from .errors import ConfigProblems, Invalid, Problem
from .schema import Settings, catalogue
from .sources import (
    COMMAND_LINE,
    CONFIG_VARIABLE,
    ENVIRONMENT,
    Source,
    from_command_line,
    from_environment,
    from_file,
    options,
)
from .spec import SPEC, Setting, key_of
from .styps import KNOWN_STYPS
from .text import shown
from .urls import Url

T = TypeVar("T")

CONFIG_NAME: Final = "msgx.toml"
DEFAULT: Final = "default"


@attrs.frozen
class LoadedSettings:
    """Settings in force, where each key's value came from, and the folder of relative paths."""

    settings: Settings
    origins: Mapping[str, str]
    base_dir: Path


def find_config(cwd: Path, env: Mapping[str, str] | None = None) -> Path | None:
    """The file that `MSGX_CONFIG` names (there or not), else `msgx.toml` in `cwd`, else None."""
    named = (os.environ if env is None else env).get(CONFIG_VARIABLE, "")
    if named:
        return cwd / named
    path = cwd / CONFIG_NAME
    return path if path.is_file() else None


def load_settings(
    config: Path | None,
    env: Mapping[str, str],
    overrides: Mapping[str, str],
    *,
    known_styps: frozenset[str] = KNOWN_STYPS,
) -> LoadedSettings:
    """The configuration from defaults < `config` < `env` < `overrides`, checked as a whole.

    `overrides` maps keys to texts: `{"msgx.pipeline.claim-batch": "200"}`. Relative paths are seen
    from the folder of `config`, or from the working directory without one. Reads nothing but the
    file. Raises ConfigProblems with everything that is wrong.
    """
    base_dir = Path(os.path.abspath(config.parent)) if config is not None else Path.cwd()
    problems: list[Problem] = []
    in_file = from_file(config, problems) if config is not None else []
    readable = in_file is not None
    known = options()
    sources = (
        Source(f"file {config}", in_file or (), problems, base_dir),
        Source(ENVIRONMENT, from_environment(env), problems, base_dir),
        Source(COMMAND_LINE, from_command_line(overrides), problems, base_dir),
    )
    merged = merge_settings(known, [source(Settings, known) for source in sources])
    values, origins = _convert(merged, problems, readable=readable)
    if readable:
        problems.extend(check(values, origins, known_styps))
    if problems:
        raise ConfigProblems(problems)
    absolute = {
        key: value.against(base_dir) if isinstance(value, Url) else value for key, value in values.items()
    }
    return LoadedSettings(_build(Settings, "", absolute), origins, base_dir)


def _convert(
    merged: MergedSettings, problems: list[Problem], *, readable: bool
) -> tuple[dict[str, object], dict[str, str]]:
    """Typed values and origins by key; what does not convert is left out and noted."""
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    settings = catalogue().values()
    # Those that follow another setting come after it.
    for setting in sorted(settings, key=lambda one: one.spec.follow is not None):
        raw, origin = _raw(setting, merged, values)
        if raw is None:
            if readable and setting.spec.default is None:
                problems.append(_missing(setting))
            continue
        try:
            values[setting.key] = setting.spec.kind(raw)
            origins[setting.key] = origin
        except Invalid as error:
            value = shown(setting.key, raw, secret=setting.spec.secret)
            problems.append(Problem(setting.key, value, origin, str(error)))
    return values, {key: origins[key] for key in catalogue() if key in origins}


def _raw(setting: Setting, merged: MergedSettings, values: Mapping[str, object]) -> tuple[object, str]:
    """The raw value and its origin; None when there is neither a value nor a default."""
    if setting.path in merged:
        value, meta = merged[setting.path]
        return value, f"{ENVIRONMENT} {setting.env}" if meta.name == ENVIRONMENT else meta.name
    follow = setting.spec.follow
    if follow is None:
        return setting.spec.default, DEFAULT
    if follow.key not in values:  # itself a problem already
        return None, DEFAULT
    return follow.rule(values[follow.key]), f"{DEFAULT}, by {follow.key}"


def _missing(setting: Setting) -> Problem:
    return Problem(
        setting.key,
        None,
        "not set",
        f"is required: {setting.spec.kind.legal}; set it in the file, by {setting.env}"
        f" or with `msgx init --airport CODE`",
    )


def _build(cls: type[T], prefix: str, values: Mapping[str, object]) -> T:
    """The settings class `cls` with its nested groups, from values by key."""
    parts: dict[str, object] = {}
    for attribute in attrs.fields(cast(type[attrs.AttrsInstance], cls)):
        path = prefix + attribute.name
        if SPEC in attribute.metadata:
            parts[attribute.name] = values[key_of(path)]
        else:
            parts[attribute.name] = _build(cast(type[object], attribute.type), f"{path}.", values)
    return cls(**parts)
