"""`msgx config`: the values in force and where each comes from; all problems at once."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from msgx_app.cli import output
from msgx_app.cli.app import new_app
from msgx_app.cli.errors import EXIT_CONFIG, Exiting, config_text, exit_code_of
from msgx_app.cli.options import Common, command

app = new_app()


@app.callback()
def config() -> None:
    """The configuration.

    \b
    Example:
      msgx config show
      msgx config check
    """


@app.command("show")
@command("msgx config show", "msgx config show --json")
def show(common: Common) -> None:
    """Every setting: its value in force and its origin; passwords and tokens masked."""
    from msgx_app.settings import describe

    rows = [
        {
            "KEY": row.key,
            "VALUE": row.value_text,
            "ORIGIN": row.origin,
            "DEFAULT": row.default_text,
            "SECRET": row.secret,
            "ENV": row.env,
            "MEANING": row.meaning,
            "LEGAL": row.legal,
        }
        for row in describe(common.load())
    ]
    if common.as_json:
        output.print_json_array(rows)
    else:
        output.print_rows(rows, ("KEY", "VALUE", "ORIGIN"), empty="no settings")


@app.command("check")
@command("msgx config check", "msgx config check --config /etc/msgx/msgx.toml --json")
def check(common: Common) -> None:
    """All problems of the configuration at once; then whether each service answers and lets us in.

    Also whether the mailbox may be written and the topics are there; nothing is changed, no topic is made.
    Exits with 3 for problems, 4 when a service does not answer or does not let us in.
    """
    from msgx_app import backends
    from msgx_app.answers.services import ask_all
    from msgx_app.container import remarks
    from msgx_app.settings import ConfigProblems
    from msgx_core.pipeline.selfcheck import check_numbers

    try:
        loaded = common.load()
    except ConfigProblems as error:
        _print_problems(common, error)
        raise Exiting(EXIT_CONFIG) from None
    wrong = _beyond_settings(loaded.settings, check_numbers)
    with ExitStack() as opened:
        asked = ask_all(loaded.settings, backends.system_clock(), opened)
    rows = [answer.row for answer in asked.answers]
    if common.as_json:
        notes = list(remarks(loaded.settings))
        problems = [{"LEGAL": text} for text in wrong]
        output.print_json({"PROBLEMS": problems, "NOTES": notes, "SERVICES": rows})
    else:
        where = common.config_path() or "defaults and environment (there is no file)"
        print(f"{where}: {f'{len(wrong)} problems' if wrong else 'ok'}")
        for text in (*wrong, *remarks(loaded.settings)):
            output.note(text)
        output.print_rows(rows, ("SERVICE", "OK", "URL", "ERROR"), empty="")
    if wrong:
        raise Exiting(EXIT_CONFIG)
    if code := exit_code_of(asked.answers):
        raise Exiting(code)


def _print_problems(common: Common, error: Any) -> None:
    if common.as_json:
        rows = [
            {"KEY": one.key or None, "VALUE": one.value, "ORIGIN": one.origin, "LEGAL": one.legal}
            for one in error.found
        ]
        output.print_json({"PROBLEMS": rows})
    else:
        output.note(config_text(error.problems))


def _beyond_settings(settings: Any, check_numbers: Any) -> list[str]:
    """What the pipeline refuses at its start."""
    from msgx_app.container import pipeline_config_of

    made = pipeline_config_of(settings)
    return list(check_numbers(made.policy, made.retry, made.event_retry, made.writeback))
