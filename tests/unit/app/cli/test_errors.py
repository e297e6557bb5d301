"""One place makes exit codes and texts of errors."""

from __future__ import annotations

import pytest
import typer

from msgx_app.cli.errors import Exiting, Negative, explain, guarded
from msgx_core.errors import ConfigError, Conflict, Fenced, Malformed, Rejected, Transient


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (Negative("there is no flight 7"), 1, "msgx: there is no flight 7"),
        (ConfigError(["a = 1: must be 2"]), 3, "msgx: configuration: a = 1: must be 2"),
        (ConfigError(["one", "two"]), 3, "msgx: the configuration has 2 problems:\n  one\n  two"),
        (Transient("store", "locked"), 4, "msgx: the store cannot be used: locked"),
        (Fenced(1, 2), 1, "msgx: epoch 1 is over, the store is at 2"),
        (Conflict("changed"), 1, "msgx: changed"),
        (Rejected("raw-unreadable", "disk"), 1, "msgx: raw-unreadable: disk"),
        (Malformed("wrong-root"), 1, "msgx: wrong-root"),
        (PermissionError(13, "Permission denied", "/x"), 1, "msgx: /x: Permission denied"),
    ],
)
def test_codes_and_texts(error: Exception, code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(error) == (code, text)
    with pytest.raises(SystemExit) as left, guarded():
        raise error
    assert left.value.code == code
    assert capsys.readouterr().err == f"{text}\n"


def test_a_fault_of_our_own_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, guarded():
        raise ZeroDivisionError("oops")
    assert left.value.code == 70
    assert "ZeroDivisionError: oops" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (Exiting(4), 4)])
def test_quiet_ends(error: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, guarded():
        raise error
    assert left.value.code == code
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [typer.BadParameter("x"), typer.Exit(2), typer.Abort()])
def test_typer_deals_with_its_own(error: Exception) -> None:
    with pytest.raises(type(error)), guarded():
        raise error
