"""The table of server errors: outage, lock, right, or one row's fault (D-04, D-26)."""

import pytest
from mysql.connector.errors import (
    ConnectionTimeoutError,
    Error,
    InterfaceError,
    ReadTimeoutError,
    WriteTimeoutError,
    get_mysql_exception,
)

from msgx_adapters.mysql_link.errors import Busy, Forbidden, Gone, server_code, translated
from msgx_core.errors import Rejected, Transient


def answer(number: int, sqlstate: str = "HY000") -> Error:
    error = get_mysql_exception(number, "because", sqlstate)
    assert isinstance(error, Error)
    return error


@pytest.mark.parametrize(
    ("number", "sqlstate"),
    [
        (1040, "08004"),  # too many connections
        (1045, "28000"),  # access denied
        (1698, "28000"),
        (1047, "08S01"),  # a Galera node that is not ready
        (1129, "HY000"),
        (1203, "42000"),
        (1226, "42000"),
        (1290, "HY000"),  # read-only
        (1836, "HY000"),
        (1792, "25006"),
        (1021, "HY000"),  # disk full
        (1114, "HY000"),
        (1146, "42S02"),
        (1054, "42S22"),
        (1044, "42000"),
        (1049, "42000"),
        (1205, "HY000"),
        (1213, "40001"),
        (1142, "42000"),
        (1143, "42000"),
        (3118, "HY000"),
        (4151, "HY000"),
        (1053, "08S01"),
        (1927, "70100"),
        (2002, "HY000"),
        (2003, "HY000"),
        (2006, "HY000"),
        (2013, "HY000"),
        (2026, "HY000"),
        (2055, "HY000"),
        (9001, "HY000"),
    ],
)
def test_what_stops_all_work_is_an_outage(number: int, sqlstate: str) -> None:
    problem = translated(answer(number, sqlstate))
    assert isinstance(problem, Transient)
    assert problem.service == "mailbox"
    assert problem.detail == f"{number} because"


@pytest.mark.parametrize(
    ("number", "sqlstate"),
    [
        (1644, "45000"),  # a trigger
        (1366, "22007"),
        (1292, "22007"),
        (1406, "22001"),
        (1264, "22003"),
        (1452, "23000"),
        (3819, "HY000"),  # a check constraint, MySQL
        (4025, "23000"),  # and MariaDB
        (1442, "HY000"),
        (1305, "42000"),  # a trigger that calls what is not there
        (1690, "22003"),
    ],
)
def test_what_is_answered_is_one_rows_fault(number: int, sqlstate: str) -> None:
    problem = translated(answer(number, sqlstate))
    assert isinstance(problem, Rejected)
    assert problem.detail == f"{number} because"


def test_kinds_of_outage() -> None:
    kinds = {1205: Busy, 1213: Busy, 1142: Forbidden, 1143: Forbidden, 2006: Gone, 2013: Gone, 1927: Gone}
    for number, kind in kinds.items():
        assert type(translated(answer(number))) is kind


def test_a_timeout_is_no_reason_to_try_again_at_once() -> None:
    """Its number is that of MySQL's statement limit."""
    for kind in (ReadTimeoutError, WriteTimeoutError, ConnectionTimeoutError):
        problem = translated(kind(errno=3024))
        assert type(problem) is Transient
        assert problem.detail == f"no answer in time ({kind.__name__})"


def test_complaints_of_the_driver_are_outages() -> None:
    assert isinstance(translated(InterfaceError("Invalid CA Certificate: x")), Transient)


def test_the_number_behind_one_of_ours() -> None:
    error = answer(1644, "45000")
    problem = translated(error)
    problem.__cause__ = error
    assert server_code(problem) == server_code(error) == 1644
    assert server_code(translated(error)) == server_code(None) == server_code(ValueError()) == 0
