"""What is said of a server that lets us not in, or not do it: by whom, where, and what would help (D-04)."""

from __future__ import annotations

import re

_TRIED = re.compile(r"^connection to server at [^,]+, port \d+ failed: (?!.*connection to server at )")

# A connection that fails has no SQLSTATE, only words; a server that speaks another language gets no remedy.
_LOGIN = (
    (r'database ".*" does not exist', "make it, or name another one in msgx.store.url"),
    (r"permission denied for database", "GRANT CONNECT ON DATABASE to this user"),
    (
        r'password|pg_hba\.conf|authentication|role ".*" (does not exist|is not permitted)',
        "put user and password in msgx.store.url right, or let this user in (pg_hba.conf)",
    ),
    (r"could not translate host name", "put the host in msgx.store.url right"),
)
_RIGHTS = {"42501": "`msgx migrate --grants store` prints the rights that it needs"}


def not_let_in(account: str, words: str) -> str:
    """The words of a connection that failed, with the account that was to come in and the remedy."""
    said = _TRIED.sub("", words)
    remedy = next((text for pattern, text in _LOGIN if re.search(pattern, said)), None)
    return _told(account, said, remedy)


def not_done(account: str, sqlstate: str, message: str) -> str:
    """The words of a statement that was refused."""
    return _told(account, f"{sqlstate} {message}", _RIGHTS.get(sqlstate))


def _told(account: str, said: str, remedy: str | None) -> str:
    text = f"{account}: {said}" if account else said
    return f"{text}: {remedy}" if remedy else text
