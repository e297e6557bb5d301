"""The command line from outside, `python -m msgx_app` in a folder of its own, or quicker in this process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from attrs import frozen

from msgx_app.cli import main

SOURCES = Path(__file__).resolve().parents[2] / "src"


@frozen
class Answer:
    """What a run printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


def environment(**more: str) -> dict[str, str]:
    """Ours without settings of msgx, and with its sources."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MSGX_")}
    # No two tests may want the same address; those of the HTTP interface give one of their own.
    return {**own, "MSGX_HTTP_BIND": "off", "PYTHONPATH": str(SOURCES), "PYTHONUTF8": "1", **more}


@frozen
class Msgx:
    """Runs commands in `folder`, each in a process of its own."""

    folder: Path

    def __call__(self, *args: str | Path | int, stdin: bytes = b"", **env: str) -> Answer:
        """One command to its end; warnings are errors."""
        answer = self._run(list(map(str, args)), stdin, environment(**env))
        assert "Traceback" not in answer.err, answer.err
        return answer

    def ok(self, *args: str | Path | int, **more: Any) -> Answer:
        """One command that must succeed."""
        answer = self(*args, **more)
        assert answer.code == 0, (args, answer)
        return answer

    def _run(self, args: list[str], stdin: bytes, env: dict[str, str]) -> Answer:
        run = subprocess.run(
            [sys.executable, "-W", "error", "-m", "msgx_app", *args],
            cwd=self.folder,
            env=env,
            input=stdin,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Answer(run.returncode, run.stdout.decode(), run.stderr.decode())


@frozen
class MsgxInside(Msgx):
    """The same in this process: what a process of its own would print, in a tenth of the time."""

    def _run(self, args: list[str], stdin: bytes, env: dict[str, str]) -> Answer:
        out, err, given = (_stream(b""), _stream(b""), _stream(stdin))
        code: Any = None
        with (
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, env, clear=True),
            mock.patch.multiple(sys, stdout=out, stderr=err, stdin=given),
        ):
            try:
                main(args)
            except SystemExit as left:
                code = left.code
            out.flush()
            err.flush()
        return Answer(code or 0, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())  # type: ignore[attr-defined]


def _stream(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")


def ready(folder: Path) -> Msgx:
    """An empty embedded installation, commands in this process."""
    msgx = MsgxInside(folder)
    msgx.ok("init", "--airport", "KMG")
    return msgx


def put(msgx: Msgx, *messages: bytes) -> list[int]:
    """Send messages as files; their ids."""
    paths = []
    for number, raw in enumerate(messages):
        path = msgx.folder / f"m{number}.xml"
        path.write_bytes(raw)
        paths.append(path)
    return [row["MSG_ID"] for row in msgx.ok("send", "--json", *paths).json]
