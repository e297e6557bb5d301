"""`msgx init` and `msgx migrate`: from an empty folder to something that works."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msgx_app.cli import output
from msgx_app.cli.errors import Negative
from msgx_app.cli.options import Common, command

if TYPE_CHECKING:
    from msgx_app.settings import LoadedSettings, Settings

_NO_AIRPORT = "XXX"


@command("msgx init --airport KMG", "msgx init /etc/msgx --profile production --airport KMG")
def init(
    common: Common,
    *,
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Folder of msgx.toml; default: this one.")
    ] = None,
    profile: Annotated[str, typer.Option(help="embedded or production.")] = "embedded",
    airport: Annotated[str, typer.Option(metavar="CODE", help="IATA code.")] = _NO_AIRPORT,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a configuration that is there.")] = False,
) -> None:
    """Write a commented configuration; with the embedded profile also make mailbox and store.

    Data that is there already is kept.
    """
    from msgx_app.profiles import PROFILES, render_profile
    from msgx_app.settings import load_settings

    if profile not in PROFILES:
        raise typer.BadParameter(f"{profile!r}: {' or '.join(PROFILES)}", param_hint="--profile")
    path = _target(common, directory)
    text = render_profile(profile, airport.strip().upper())
    if path.exists() and not force:
        raise Negative(f"{path} is there already: edit it, or overwrite it with --force")
    _write(path, text)
    loaded = load_settings(path, os.environ, common.sets)
    made = _make(loaded) if profile == "embedded" else []
    if common.as_json:
        output.print_json({"CONFIG": str(path), "PROFILE": profile, "AIRPORT": airport.upper(), "MADE": made})
        return
    print(f"wrote {path}")
    for what in made:
        print(f"made {what}")
    _next_steps(path, profile, airport)


def _target(common: Common, directory: Path | None) -> Path:
    from msgx_app.settings import CONFIG_NAME

    if directory is None:
        return common.config_path() or Path(CONFIG_NAME)
    if common.config is not None:
        raise typer.BadParameter("a folder or --config, not both", param_hint="DIR")
    if directory.exists() and not directory.is_dir():
        raise typer.BadParameter(f"{directory} is not a folder", param_hint="DIR")
    return directory / CONFIG_NAME


def _write(path: Path, text: str) -> None:
    """The whole file or none of it, also when the machine stops in the middle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _make(loaded: LoadedSettings) -> list[str]:
    made = [
        str(url.path) for url in _files(loaded.settings) if url.path is not None and not url.path.exists()
    ]
    _bring_up(loaded.settings)
    return made


def _files(settings: Settings) -> tuple[Any, ...]:
    return (settings.mailbox.url, settings.store.url)


def _bring_up(settings: Settings) -> None:
    """The store's schema as this program needs it; a mailbox of our own where it is missing (D-42)."""
    from msgx_app import backends

    clock = backends.system_clock()
    backends.open_store(settings, clock, create=True).close()
    backends.open_inbox(settings, clock, create=settings.mailbox.write_enabled).close()


def _next_steps(path: Path, profile: str, airport: str) -> None:
    at_home = path.resolve() == Path("msgx.toml").resolve()
    option = "" if at_home else f" --config {shlex.quote(str(path))}"
    print("next:")
    if airport == _NO_AIRPORT:
        print(f"  set msgx.airport.code in {path}")
    if profile == "production":
        print(f"  put hosts and passwords in {path}")
        print(f"  msgx config check{option}")
        print(f"  msgx migrate{option}")
        print(f"  msgx run{option}")
        return
    print(f"  msgx simulate --flights 40{option}   or   msgx send FILE...{option}")
    print(f"  msgx drain{option}")
    print(f"  msgx flights{option}")


@command("msgx migrate", "msgx migrate --sql > schema.sql")
def migrate(
    common: Common,
    *,
    sql: Annotated[
        bool, typer.Option("--sql", help="Change nothing; print what a DBA would run for a new store.")
    ] = False,
) -> None:
    """Bring the store's schema up to this version, and make an embedded mailbox where it is missing.

    Nothing happens where all is right already.
    """
    from msgx_app import backends

    settings = common.load().settings
    if sql:
        text = backends.schema_sql(settings)
        if common.as_json:
            output.print_json({"SQL": text})
        else:
            print(text, end="")
        return
    _bring_up(settings)
    if common.as_json:
        output.print_json({"STORE": str(settings.store.url), "MAILBOX": str(settings.mailbox.url)})
    else:
        print(f"the schema of {settings.store.url} is up to date")
