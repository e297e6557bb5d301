"""From what goes wrong to an exit code and one clear paragraph: the only place that decides it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgx_app.refusals import Negative

if TYPE_CHECKING:
    from msgx_app.answers.services import Answer

__all__ = [
    "EXIT_BROKEN_PIPE",
    "EXIT_CONFIG",
    "EXIT_FAULT",
    "EXIT_INTERRUPTED",
    "EXIT_NEGATIVE",
    "EXIT_OK",
    "EXIT_SERVICE",
    "EXIT_USAGE",
    "Exiting",
    "Negative",
    "config_text",
    "exit_code_of",
    "explain",
    "guarded",
]

EXIT_OK = 0
EXIT_NEGATIVE = 1
EXIT_USAGE = 2
EXIT_CONFIG = 3
EXIT_SERVICE = 4
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class Exiting(Exception):
    """Everything has been said; only the exit code is left."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command: what it raises becomes an exit code and a text on standard error.

    Errors of the command line itself pass through: typer shows them and exits with 2.
    """
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        _silence_stdout()
        sys.exit(EXIT_BROKEN_PIPE)
    except Exiting as error:
        sys.exit(error.code)
    except Exception as error:
        if _is_typers_own(error):
            raise
        code, text = explain(error)
        if code == EXIT_FAULT:
            import traceback

            traceback.print_exc()
        print(text, file=sys.stderr)
        sys.exit(code)


def exit_code_of(answers: Sequence[Answer]) -> int:
    """4 when a service does not answer, else 3 when one is misconfigured, else 0."""
    failed = [answer for answer in answers if answer.error is not None]
    if any(not answer.misconfigured for answer in failed):
        return EXIT_SERVICE
    return EXIT_CONFIG if failed else EXIT_OK


def explain(error: Exception) -> tuple[int, str]:
    """The exit code of an error and its paragraph."""
    from msgx_core.errors import ConfigError, MsgxError, Transient

    match error:
        case Negative():
            return EXIT_NEGATIVE, f"msgx: {error}"
        case ConfigError(problems=problems):
            return EXIT_CONFIG, config_text(problems)
        case Transient(service=service, detail=detail):
            return EXIT_SERVICE, f"msgx: the {service} cannot be used: {detail}"
        case MsgxError():
            return EXIT_NEGATIVE, f"msgx: {error}"
        case OSError():
            return EXIT_NEGATIVE, f"msgx: {_os_text(error)}"
        case _:
            return EXIT_FAULT, "msgx: this is a fault of msgx itself; please report the lines above"


def config_text(problems: tuple[str, ...]) -> str:
    """All problems of a configuration, one a line."""
    if len(problems) == 1:
        return f"msgx: configuration: {problems[0]}"
    listed = "\n".join(f"  {problem}" for problem in problems)
    return f"msgx: the configuration has {len(problems)} problems:\n{listed}"


def _os_text(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    return f"{error.filename}: {error.strerror or error}"


def _is_typers_own(error: Exception) -> bool:
    # Its classes have moved between versions; their module has not left these packages.
    return type(error).__module__.partition(".")[0] in ("typer", "click")


def _silence_stdout() -> None:
    """Nothing more can be written: keep the interpreter from complaining about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
