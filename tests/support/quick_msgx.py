"""`msgx` for stories, in a tenth of the time: one process has imported everything, each command forks it.

`serve(folder)` is that process; `client()` is the text of the program `msgx` that stands first on the `PATH`.
A command has its own process, folder, environment and files, as from a shell; with other sources
(`PYTHONPATH`) the program runs the real one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

SOCKET = "msgx.sock"

_CLIENT = """\
#!{python} -ISB
import json, os, socket, sys
if os.environ.get("PYTHONPATH") != {path!r}:
    os.execv({python!r}, [{python!r}, "-W", "error", "-m", "msgx_app", *sys.argv[1:]])
asked = socket.socket(socket.AF_UNIX)
asked.connect({socket!r})
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(asked, [len(told).to_bytes(4, "big")], [0, 1, 2])
asked.sendall(told)
sys.exit(int(asked.recv(16) or b"70"))
"""


def client(folder: Path, pythonpath: str) -> str:
    """The program."""
    return _CLIENT.format(python=sys.executable, path=pythonpath, socket=str(folder / SOCKET))


def serve(folder: Path) -> None:
    """Fork for each command until killed."""
    import msgx_app.container
    import msgx_app.settings.load  # noqa: F401
    from msgx_app.cli import app

    app.command()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / SOCKET))
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are waited for by nobody
    while True:
        asked, _ = listener.accept()
        head, files, _, _ = socket.recv_fds(asked, 4, 3)
        told = _all(asked, int.from_bytes(head, "big"))
        if os.fork() == 0:
            listener.close()
            _keep(asked, told, files)
        for file in files:
            os.close(file)
        asked.close()


def _keep(asked: socket.socket, told: bytes, files: list[int]) -> None:
    """Stands by one command, and tells its exit code; never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        asked.close()
        _command(told, files)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    asked.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _all(asked: socket.socket, n_bytes: int) -> bytes:
    told = b""
    while len(told) < n_bytes:
        told += asked.recv(n_bytes - len(told))
    return told


def _command(told: bytes, files: list[int]) -> None:
    """What a process of its own would do; never returns."""
    args, cwd, env = json.loads(told)
    code: object = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
        # Made anew: those that are there took on how the server's own files are.
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["msgx", *args]
        from msgx_app.cli import main

        main(args)
        code = 0
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
