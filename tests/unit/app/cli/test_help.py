"""Every command explains itself, and `msgx --help` stays cheap."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from msgx_app.cli.app import COMMANDS, command
from msgx_cli import environment

HEAVY = (
    "attr",
    "attrs",
    "lxml",
    "msgx_adapters",
    "rich",
    "sqlite3",
    "structlog",
    "typed_settings",
    "tomllib",
)
OURS = {
    "msgx_app",
    "msgx_app.__main__",
    "msgx_app.cli",
    "msgx_app.cli.app",
    "msgx_app.cli.errors",
    "msgx_app.refusals",
}
GROUPS_WITHOUT_ANSWER = ("config", "cache")


def all_commands() -> Iterator[tuple[str, Any]]:
    """Every command and subcommand with its words."""
    group = command()
    for name in COMMANDS:
        found = group.commands[name]
        yield name, found
        for below, sub in getattr(found, "commands", {}).items():
            yield f"{name} {below}", sub


PARAMETERS = [pytest.param(words, found, id=words) for words, found in all_commands()]


@pytest.mark.parametrize(("words", "found"), PARAMETERS)
def test_each_command_has_help_with_an_example(words: str, found: Any) -> None:
    assert found.help.splitlines()[0].endswith((".", ";", ":", ","))
    assert "Example:" in found.help
    assert f"msgx {words}" in found.help


@pytest.mark.parametrize(("words", "found"), PARAMETERS)
def test_each_command_takes_the_common_options(words: str, found: Any) -> None:
    if words in GROUPS_WITHOUT_ANSWER:
        return
    options = {option for parameter in found.params for option in parameter.opts}
    assert {"--config", "--set", "--json"} <= options


@pytest.mark.parametrize(("words", "found"), PARAMETERS)
def test_each_option_is_explained(words: str, found: Any) -> None:
    assert [p.opts for p in found.params if not getattr(p, "help", None)] == []


@pytest.mark.parametrize(("words", "found"), PARAMETERS)
def test_operator_actions_want_a_reason(words: str, found: Any) -> None:
    if words.rsplit(maxsplit=1)[-1] in ("readmit", "resume", "requeue", "discard", "ack", "schedule") or (
        words == "request ref"
    ):
        assert [p.required for p in found.params if "--reason" in p.opts] == [True]


def test_the_specified_commands_are_there() -> None:
    words = {words for words, _ in all_commands()}
    wanted = "init,config show,config check,migrate,run,drain,send,decode,status,messages,messages show"
    wanted += ",messages readmit,replay,flights,flights show,ref,resources,writeback,writeback resume,outbox"
    wanted += ",outbox requeue,outbox discard,snapshots,alerts,alerts ack,cache rebuild,simulate"
    wanted += ",request schedule,request ref,requests,jobs"
    assert set(wanted.split(",")) <= words


def test_help_imports_no_command_no_settings_no_adapter() -> None:
    script = "import sys\nfrom msgx_app.cli import main\ntry:\n    main(['--help'])\n"
    script += "except SystemExit:\n    print('MODULES', *sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modules = run.stdout.rpartition("MODULES")[2].split()
    assert [m for m in modules if m.partition(".")[0] in HEAVY] == []
    assert {m for m in modules if m.startswith("msgx_")} <= OURS
    assert "decode" in run.stdout


def run_s(*args: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *args], env=environment(), capture_output=True, timeout=60, check=True)
    return time.perf_counter() - started


def test_help_is_quick() -> None:
    # Turn by turn, and the best of each: other work on the machine meets both alike.
    pairs = [(run_s("-m", "msgx_app", "--help"), run_s("-c", "import typer, rich")) for _ in range(9)]
    help_s, floor_s = (min(times) for times in zip(*pairs, strict=True))
    assert help_s <= 1.5 * floor_s
