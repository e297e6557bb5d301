"""`msgx init` and `msgx migrate`: from an empty folder to something that works."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
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
    with _written(path, text):
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


@contextmanager
def _written(path: Path, text: str) -> Iterator[None]:
    """Write the file, and put back what was there when it is no good: no half of an `init` stays."""
    missing = [each for each in path.parents if not each.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") if path.exists() else None
    _write(path, text)
    try:
        yield
    except BaseException:
        if before is None:
            path.unlink(missing_ok=True)
            _remove_empty(missing)
        else:
            _write(path, before)
        raise


def _remove_empty(folders: list[Path]) -> None:
    """The innermost first; what has something in it stays, and what is around it."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return


def _write(path: Path, text: str) -> None:
    """The whole file or none of it, also when the machine stops in the middle."""
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


def _bring_up(settings: Settings) -> tuple[str | None, str | None]:
    """The store's schema as this program needs it; a mailbox of our own where it is missing (D-42).

    The revision of the schema before, None when there was none, and now.
    """
    from msgx_app import backends, outbounds

    clock = backends.system_clock()
    revisions = backends.migrate_store(settings, clock)
    backends.open_inbox(settings, clock, create=settings.mailbox.write_enabled).close()
    outbound = outbounds.open_outbound(settings, clock, create=True)
    if outbound is not None:
        outbound.close()
    return revisions


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


class Grants(StrEnum):
    """Whose rights `msgx migrate --grants` prints."""

    STORE = "store"
    MAILBOX = "mailbox"


@command("msgx migrate", "msgx migrate --sql > schema.sql", "msgx migrate --grants store | psql -d msgx")
def migrate(
    common: Common,
    *,
    sql: Annotated[
        bool, typer.Option("--sql", help="Change nothing; print what a DBA would run instead.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="REVISION", help="With --sql: the store's revision, unasked."),
    ] = None,
    grants: Annotated[
        Grants | None,
        typer.Option("--grants", help="Change nothing; print the rights that msgx needs there."),
    ] = None,
) -> None:
    """Bring the store's schema up to this version, and make an embedded mailbox where it is missing.

    Nothing happens where all is right already; an older schema is not upgraded while msgx runs.
    """
    if grants is not None and sql:
        raise typer.BadParameter("one of --sql and --grants, not both", param_hint="--grants")
    if since is not None and not sql:
        raise typer.BadParameter("it belongs to --sql", param_hint="--from")
    settings = common.load().settings
    if sql:
        _print_script(settings, since, as_json=common.as_json)
    elif grants is not None:
        _print_grants(settings, grants, as_json=common.as_json)
    else:
        before, now = _bring_up(settings)
        if common.as_json:
            urls = {"STORE": str(settings.store.url), "MAILBOX": str(settings.mailbox.url)}
            output.print_json({**urls, "FROM_REVISION": before, "REVISION": now})
        else:
            print(f"the schema of {settings.store.url} {_brought_up(before, now)}")


def _brought_up(before: str | None, now: str | None) -> str:
    if before is None:
        return f"was made: revision {now}"
    if before == now:
        return f"is up to date: revision {now}"
    return f"was upgraded from revision {before} to {now}"


def _print_script(settings: Settings, since: str | None, *, as_json: bool) -> None:
    """The SQL on standard output, what it is for on standard error."""
    from msgx_app import backends

    text, remark = backends.migration_script(settings, since)
    if as_json:
        output.print_json({"SQL": text, "REMARK": remark})
        return
    print(text, end="")
    if remark is not None:
        print(f"msgx: {remark}", file=sys.stderr)


def _print_grants(settings: Settings, grants: Grants, *, as_json: bool) -> None:
    from msgx_app import backends

    store = grants is Grants.STORE
    text = backends.store_grants(settings) if store else backends.mailbox_grants(settings)
    if text is None:
        url = settings.store.url if store else settings.mailbox.url
        raise Negative(f"{url} knows no roles: there is nothing to grant")
    if as_json:
        output.print_json({"SQL": text})
    else:
        print(text, end="")
