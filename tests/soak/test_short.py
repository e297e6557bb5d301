"""A short soak, so that the long one can be started in the belief that it works."""

from __future__ import annotations

import pytest

from soak.__main__ import main


@pytest.mark.deep
@pytest.mark.timeout(900)
def test_half_a_minute_ends_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """R-447, D-04: `make soak MINUTES=0.5`."""
    assert main(["0.5", "--seed", "5"]) == 0
    said = capsys.readouterr().out
    assert "FAILED" not in said
    assert said.rstrip().endswith("clean")
