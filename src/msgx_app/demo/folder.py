"""The folder of one run: a configuration as `msgx init` writes it, and the commands to look at it later."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from itertools import count
from pathlib import Path

from attrs import frozen

from msgx_app.demo.options import AIRPORT
from msgx_app.profiles import render_profile
from msgx_app.settings import Settings, load_settings


@frozen
class DemoFolder:
    """Where a run keeps everything, and its settings."""

    path: Path
    settings: Settings

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.path / "msgx.toml"

    @property
    def shown(self) -> str:
        """The path as short as it can be, quoted for a shell."""
        return shlex.quote(_short(self.path))


def make_folder(parent: Path) -> DemoFolder:
    """A new folder `run-N` with a configuration of its own; no run touches another one's data."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        path = parent / f"run-{number}"
        try:
            path.mkdir()
        except FileExistsError:
            continue
        break
    # So that estimates, times and cancellations are seen too; `msgx init` keeps the default.
    text = render_profile("embedded", AIRPORT).replace('whitelist = "baseline"', 'whitelist = "extended"')
    (path / "msgx.toml").write_text(text, encoding="utf-8")
    # The environment is left out: it may configure a real msgx on this machine.
    return DemoFolder(path, load_settings(path / "msgx.toml", {}, {}).settings)


def commands(folder: DemoFolder, flid: int | None) -> list[str]:
    """What to type next."""
    msgx = _msgx()
    flight = [f"{msgx} flights show {flid} --history"] if flid is not None else []
    return [
        f"export MSGX_CONFIG={shlex.quote(_short(folder.config))}",
        f"{msgx} status",
        f"{msgx} messages --state DEAD",
        *flight,
        f"{msgx} alerts",
        f"{msgx} run        # go on where this ended",
    ]


def _msgx() -> str:
    if shutil.which("msgx"):
        return "msgx"
    beside = Path(sys.executable).with_name("msgx")
    if beside.exists():
        return shlex.quote(_short(beside))
    return f"{shlex.quote(_short(Path(sys.executable)))} -m msgx_app"


def _short(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
