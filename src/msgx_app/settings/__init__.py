"""Settings: TOML file, environment and command line, checked as a whole before anything starts.

`load_settings` gives the values, `describe` the rows of `msgx config show`, `catalogue` what the
documentation is made of. typed-settings is imported by `.load` alone, on first use of a name from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .describe import SettingRow, describe
from .durations import format_duration, parse_duration
from .errors import ConfigProblems, Invalid, Problem
from .network import Bind, Token
from .output import DnldCoverage, MissingFlight, TimeFormat
from .running import Prepared
from .schema import Settings, catalogue
from .spec import Setting
from .styps import ALL_STYPS, BASELINE_STYPS, EXTENDED_STYPS, KNOWN_STYPS, Whitelist
from .urls import Url

if TYPE_CHECKING:
    from .load import CONFIG_NAME, LoadedSettings, find_config, load_settings

__all__ = [
    "ALL_STYPS",
    "BASELINE_STYPS",
    "CONFIG_NAME",
    "EXTENDED_STYPS",
    "KNOWN_STYPS",
    "Bind",
    "ConfigProblems",
    "DnldCoverage",
    "Invalid",
    "LoadedSettings",
    "MissingFlight",
    "Prepared",
    "Problem",
    "Setting",
    "SettingRow",
    "Settings",
    "TimeFormat",
    "Token",
    "Url",
    "Whitelist",
    "catalogue",
    "describe",
    "find_config",
    "format_duration",
    "load_settings",
    "parse_duration",
]


def __getattr__(name: str) -> Any:
    if name in ("CONFIG_NAME", "LoadedSettings", "find_config", "load_settings"):
        from . import load

        return getattr(load, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
