"""What each SQLSTATE means (D-04)."""

import pytest

from msgx_adapters.store_postgres.errors import Refusal, translated
from msgx_adapters.store_postgres.remedies import not_let_in
from msgx_core.errors import Conflict, Fenced, Rejected, Transient

OUTAGES = "08006 08P01 53100 53300 57P01 57P03 57014 25006 28000 28P01 55P03 58030 XX000 42501 42P01"
REFUSALS = "22001 22003 22021 22P05 23502 23505 23514 42601"


@pytest.mark.parametrize("state", OUTAGES.split())
def test_the_store_as_a_whole_does_not_work(state: str) -> None:
    error = translated(Refusal(state, "words"))
    assert isinstance(error, Transient)
    assert error.service == "store"
    assert error.detail.startswith(f"{state} words")


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


LOGIN = "put user and password in msgx.store.url right, or let this user in (pg_hba.conf)"


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ('FATAL: password authentication failed for user "me"', LOGIN),
        ('FATAL: role "me" does not exist', LOGIN),
        ('FATAL: no pg_hba.conf entry for host "10.0.0.9", user "me"', LOGIN),
        ('FATAL: database "nope" does not exist', "make it, or name another one in msgx.store.url"),
    ],
)
@pytest.mark.parametrize("tried", ['"10.0.0.1", port 5432', '"db" (10.0.0.1), port 5432'])
def test_who_is_not_let_in_is_told_where_and_what_helps(tried: str, said: str, remedy: str) -> None:
    """D-04: class 28 and a database that is not there are outages; somebody has to put them right."""
    words = f"connection to server at {tried} failed: {said}"
    assert not_let_in("as me on db:5432/msgx", words) == f"as me on db:5432/msgx: {said}: {remedy}"


def test_what_has_no_remedy_is_told_as_it_is() -> None:
    """Several hosts were tried, or the server speaks another language."""
    both = (
        'connection to server at "a", port 1 failed: Connection refused '
        'connection to server at "b", port 1 failed: FATAL: Passwort-Authentifizierung fehlgeschlagen'
    )
    assert not_let_in("on a,b:1/x", both) == f"on a,b:1/x: {both}"


def test_a_right_that_is_missing_has_its_remedy() -> None:
    error = translated(Refusal("42501", "permission denied for schema msgx"), account="as me on db:5432/x")
    assert isinstance(error, Transient)
    assert error.detail == (
        "as me on db:5432/x: 42501 permission denied for schema msgx:"
        " `msgx migrate --grants store` prints the rights that it needs"
    )
