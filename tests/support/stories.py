"""A page as a story: its blocks run one after another in one folder and one shell, as a reader would do."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import define, field, frozen

import quick_msgx
from msgx_cli import environment
from pages import ROOT, Block
from quick_msgx import client

LIMIT_S = 90
SHELL = ("before", "console", "sh")
_WILD = "…"


@frozen
class Step:
    """One command of a story, and what it must print where the page says so."""

    block: Block
    command: str
    printed: str | None = None

    @property
    def exit_code(self) -> int:
        """The code that it must end with."""
        return int(self.block.how.removeprefix("exit ")) if self.block.how.startswith("exit ") else 0


@define
class Story:
    """Runs in `folder`; `AssertionError` tells page, line, command and output of what goes wrong first."""

    folder: Path
    steps: list[Step] = field(factory=list)

    def add(self, block: Block) -> None:
        """One more block."""
        if block.language == "console":
            self.steps += _session(block)
        elif block.language == "python":
            name = (
                f"block_{len(self.steps)}.py" if block.how != "pytest" else f"test_block_{len(self.steps)}.py"
            )
            (self.folder / name).write_text(block.text, encoding="utf-8")
            pytest = "-m pytest -q -p no:cacheprovider " if block.how == "pytest" else ""
            self.steps.append(Step(block, f'(cd "$HOME" && python -W error {pytest}{name})'))
        else:
            self.steps.append(Step(block, block.text))

    def run(self) -> None:
        """All of it."""
        if not self.steps:
            return
        outputs = self.folder / ".story"
        outputs.mkdir()
        script = outputs / "story.sh"
        script.write_text("".join(_lines(self.steps, outputs)), encoding="utf-8")
        places = [outputs, Path(sys.executable).parent, os.environ["PATH"]]
        env = environment(PATH=os.pathsep.join(map(str, places)), HOME=str(self.folder), REPOSITORY=str(ROOT))
        quick = outputs / "msgx"
        quick.write_text(client(outputs, env["PYTHONPATH"]), encoding="utf-8")
        quick.chmod(0o755)
        shell = subprocess.Popen(
            ["bash", str(script)], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            code: int | str = shell.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            code = f"nothing in {LIMIT_S} s"
        finally:
            _end(shell)
        done = [n for n in range(len(self.steps)) if (outputs / f"{n}.out").exists()]
        for n in done:
            step, printed = self.steps[n], (outputs / f"{n}.out").read_text(encoding="utf-8")
            failed = n == done[-1] and code != 0
            assert not failed, f"{step.block.place}: $ {step.command}\nended with {code}\n{printed}"
            if step.printed is not None:
                said = f"the page says\n{step.printed}\nit printed\n{printed}"
                assert agrees(printed, step.printed), f"{step.block.place}: $ {step.command}\n{said}"
        assert len(done) == len(self.steps), f"{self.steps[len(done)].block.place} was not reached"


def agrees(printed: str, told: str) -> bool:
    """Whether output is what a page says: blanks apart; `…` is anything in a line, alone any lines."""

    def pattern(line: str) -> str:
        words = (re.escape(word).replace(_WILD, r"[^\n]*?") for word in line.split())
        return ".*?" if line.strip() == _WILD else r"[ \t]+".join(words)

    wanted = "\n".join(pattern(line) for line in told.strip("\n").splitlines())
    lines = "\n".join(line.strip() for line in printed.strip("\n").splitlines())
    return re.fullmatch(wanted, lines, re.DOTALL) is not None


def _session(block: Block) -> Iterator[Step]:
    """Commands behind `$ `, each with the lines that follow it as what it prints."""
    command: list[str] = []
    printed: list[str] = []
    going_on = False
    for line in block.text.splitlines():
        if line.startswith("$ "):
            if command:
                yield _step(block, command, printed)
            command, printed = [line[2:]], []
        elif going_on:
            command.append(line.removeprefix("> "))
        else:
            assert command, f"{block.place}: a console block begins with a command"
            printed.append(line)
        going_on = line.endswith("\\") and not printed
    yield _step(block, command, printed)


def _step(block: Block, command: Sequence[str], printed: Sequence[str]) -> Step:
    told = "\n".join(printed)
    return Step(block, "\n".join(command), told if told.strip() else None)


def _lines(steps: Sequence[Step], outputs: Path) -> Iterator[str]:
    server = Path(quick_msgx.__file__)
    yield f"set -eu -o pipefail\npython {shlex.quote(str(server))} {shlex.quote(str(outputs))} &\n"
    yield f"until [ -S {shlex.quote(str(outputs / quick_msgx.SOCKET))} ]; do sleep 0.02; done\n"
    for n, step in enumerate(steps):
        out = shlex.quote(str(outputs / f"{n}.out"))
        body = f"{{\n{step.command}\n}} >{out} 2>&1"
        if step.block.how == "stays":
            yield f"{body} &\n"
        elif step.exit_code:
            yield f"code=0\n{body} || code=$?\n[ $code = {step.exit_code} ] || exit 90\n"
        else:
            yield f"{body}\n"


def _end(shell: subprocess.Popen[bytes]) -> None:
    """The shell and what it left in the background."""
    try:
        os.killpg(shell.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    shell.wait(10)
