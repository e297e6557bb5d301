"""Where values come from, as typed-settings loaders: file, environment, command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from attrs import frozen
from typed_settings.dict_utils import set_path
from typed_settings.exceptions import ConfigFileLoadError, ConfigFileNotFoundError
from typed_settings.loaders import TomlFormat
from typed_settings.types import (
    LoadedSettings,
    LoaderMeta,
    OptionInfo,
    OptionList,
    SettingsClass,
    SettingsDict,
)

from .errors import Problem
from .schema import Settings, catalogue
from .spec import ENV_PREFIX
from .text import shown

CONFIG_VARIABLE: Final = "MSGX_CONFIG"
# Variables that are ours but no settings: the file itself, and what steers tests and benchmarks.
RESERVED_VARIABLES: Final = (CONFIG_VARIABLE, "MSGX_PROFILE")
RESERVED_PREFIXES: Final = ("MSGX_TEST_", "MSGX_BENCH_")
ENVIRONMENT: Final = "environment"
COMMAND_LINE: Final = "command line"


@frozen
class Given:
    """One value as found; `name` is how this source calls the setting, `key` how msgx does."""

    key: str
    name: str
    value: object
    origin: str


class Source:
    """A typed-settings loader over values already found; notes unknown keys in `problems`."""

    def __init__(self, origin: str, given: Iterable[Given], problems: list[Problem], base_dir: Path) -> None:
        self._meta = LoaderMeta(origin, base_dir=base_dir)
        self._given = given
        self._problems = problems

    def __call__(self, settings_cls: SettingsClass, options: OptionList) -> LoadedSettings:
        """The nested values of the keys that exist, for typed-settings to merge."""
        values: SettingsDict = {}
        seen: set[str] = set()
        for given in self._given:
            found = catalogue().get(given.key)
            if found is None:
                self._problems.append(_unknown(given))
            elif given.key in seen:
                value = shown(given.key, given.value, secret=found.spec.secret)
                self._problems.append(Problem(given.key, value, given.origin, "is given twice"))
            else:
                seen.add(given.key)
                set_path(values, found.path, given.value)
        return LoadedSettings(values, self._meta)


def _unknown(given: Given) -> Problem:
    in_environment = given.origin.startswith(ENVIRONMENT)
    names = [known.env if in_environment else known.key for known in catalogue().values()]
    if not in_environment and any(name.startswith(given.key + ".") for name in names):
        legal = f"is a group of settings, not one: write [{given.key}] above its lines"
    else:
        close = get_close_matches(given.name, names, n=1)
        legal = "is no setting" + (
            f"; did you mean {close[0]}?" if close else ": `msgx config show` lists all"
        )
    return Problem(given.name, shown(given.name, given.value), given.origin, legal)


def options() -> OptionList:
    """The catalogue as typed-settings options; its own `deep_options` reads source files and is slow."""
    return tuple(
        OptionInfo(
            parent_cls=Settings,
            path=known.path,
            cls=object,
            default=known.spec.default,
            has_no_default=known.spec.default is None,
            default_is_factory=False,
            converter=known.spec.kind,
        )
        for known in catalogue().values()
    )


def normal(key: str) -> str:
    """`msgx.pipeline.claim_batch` and `msgx.pipeline.claim-batch` are the same key."""
    return key.strip().replace("_", "-")


def from_environment(env: Mapping[str, str]) -> Iterator[Given]:
    """All `MSGX_…` variables but the reserved ones."""
    keys = {known.env: known.key for known in catalogue().values()}
    for name, value in sorted(env.items()):
        if (
            not name.startswith(ENV_PREFIX)
            or name in RESERVED_VARIABLES
            or name.startswith(RESERVED_PREFIXES)
        ):
            continue
        yield Given(keys.get(name, ""), name, value, f"{ENVIRONMENT} {name}")


def from_command_line(overrides: Mapping[str, str]) -> Iterator[Given]:
    """All overrides; a key in two spellings is given twice."""
    for name, value in overrides.items():
        yield Given(normal(name), name, value, COMMAND_LINE)


def from_file(path: Path, problems: list[Problem]) -> list[Given] | None:
    """All values of the TOML file at `path`; None, and a problem noted, when it cannot be read."""
    origin = f"file {path}"
    try:
        tree = TomlFormat(None)(path, object, ())
    except ConfigFileNotFoundError:
        legal = "does not exist; `msgx init` writes one"
    except ConfigFileLoadError as error:
        syntax = not isinstance(error.__cause__, OSError)
        legal = f"is not legal TOML: {error}" if syntax else f"cannot be read: {error.__cause__}"
    except UnicodeDecodeError as error:
        legal = f"is not UTF-8 text: byte {error.start} is not legal; save it as UTF-8"
    except OSError as error:
        legal = f"cannot be read: {error.strerror or error}"
    else:
        return list(_flat(tree, "", origin))
    problems.append(Problem("", None, origin, legal))
    return None


def _flat(tree: Mapping[str, object], prefix: str, origin: str) -> Iterator[Given]:
    for part, value in tree.items():
        name = prefix + part
        key = normal(name)
        if isinstance(value, dict) and value and key not in catalogue():
            yield from _flat(value, f"{name}.", origin)
        elif value != {} or not any(known.startswith(f"{key}.") for known in catalogue()):
            yield Given(key, name, value, origin)
