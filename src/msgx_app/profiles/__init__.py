"""Configuration templates for `msgx init`: `embedded.toml` and `production.toml`, commented."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from msgx_app.settings.errors import ConfigProblems, Invalid, Problem
from msgx_app.settings.kinds import airport_code

PROFILES: Final = ("embedded", "production")
_AIRPORT: Final = "@AIRPORT@"


def render_profile(name: str, airport: str) -> str:
    """The text of profile `name` for the IATA code `airport`, ready to be written as `msgx.toml`.

    Raises ConfigProblems when there is no such profile or the code is not legal.
    """
    problems = []
    if name not in PROFILES:
        legal = "must be " + " or ".join(PROFILES)
        problems.append(Problem("profile", f'"{name}"', "command line", legal))
    try:
        code = airport_code(airport)
    except Invalid as error:
        problems.append(Problem("msgx.airport.code", f'"{airport}"', "command line", str(error)))
    if problems:
        raise ConfigProblems(problems)
    template = files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return template.replace(_AIRPORT, code)
