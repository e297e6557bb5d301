"""What each SQLSTATE means (D-04)."""

import pytest

from msgx_adapters.store_postgres.errors import Refusal, translated
from msgx_core.errors import Conflict, Fenced, Rejected, Transient

OUTAGES = "08006 08P01 53100 53300 57P01 57P03 57014 25006 28000 28P01 55P03 58030 XX000 42501 42P01"
REFUSALS = "22001 22003 22021 22P05 23502 23505 23514 42601"


@pytest.mark.parametrize("state", OUTAGES.split())
def test_the_store_as_a_whole_does_not_work(state: str) -> None:
    error = translated(Refusal(state, "words"))
    assert isinstance(error, Transient)
    assert error.service == "store"
    assert error.detail == f"{state} words"


@pytest.mark.parametrize("state", REFUSALS.split())
def test_one_write_is_refused(state: str) -> None:
    error = translated(Refusal(state, "words", "more"))
    assert isinstance(error, Rejected)
    assert error.reason == f"store-rejected:{state}"
    assert error.detail == "words (more)"


@pytest.mark.parametrize("state", ["40001", "40P01", "MX001"])
def test_something_has_changed_meanwhile(state: str) -> None:
    assert isinstance(translated(Refusal(state, "words")), Conflict)


def test_the_epoch_is_over() -> None:
    error = translated(Refusal("MX002", "words", "8"), 7)
    assert isinstance(error, Fenced)
    assert (error.epoch, error.current) == (7, 8)
