"""Entry of `python -m msgx_app.demo` and `make demo`."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> int:
    """Run the demonstration; returns the exit code."""
    from msgx_app.cli.errors import explain
    from msgx_app.demo.options import parse
    from msgx_core.errors import MsgxError

    options = parse(args)
    try:
        if options.once:
            from msgx_app.demo.once import run_once

            return run_once(options)
        from msgx_app.demo.live import run_live

        return run_live(options)
    except (MsgxError, OSError) as error:
        code, text = explain(error)
        print(text, file=sys.stderr)
        return code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
