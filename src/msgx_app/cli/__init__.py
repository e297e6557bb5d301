"""The command line `msgx`; nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; `args` defaults to those of the process.

    0 ok, 1 negative answer, 2 usage, 3 configuration, 4 a service does not answer, 70 a fault of msgx,
    130 interrupted, 141 the reader of our output went away.
    """
    from msgx_app.cli.errors import EXIT_CONFIG, EXIT_INTERRUPTED, EXIT_NEGATIVE

    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a letter gets an escape, never an exception.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        from msgx_app.cli.app import command
    except ModuleNotFoundError as error:
        print(
            f"msgx: this installation is the library alone ({error.name} is missing);"
            " the command line comes with: pip install 'msgx[embedded]', or 'msgx[all]'",
            file=sys.stderr,
        )
        sys.exit(EXIT_CONFIG)
    try:
        command().main(args=None if args is None else list(args), prog_name="msgx")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        print(f"msgx: the output cannot be written: {error.strerror or error}", file=sys.stderr)
        os._exit(EXIT_NEGATIVE)


def _open_closed_streams() -> None:
    """A shell may start us without standard streams (`>&-`); work is done all the same."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
