"""The errors of MySQL and MariaDB in our words: an outage of the mailbox, or a refusal of one row (D-04)."""

from __future__ import annotations

from mysql.connector.errors import ConnectionTimeoutError, Error, ReadTimeoutError, WriteTimeoutError

from msgx_core.errors import MsgxError, Rejected, Transient


class Gone(Transient):
    """The connection is no more: a new one may work at once."""


class Busy(Transient):
    """The server answered: somebody holds a lock. The connection is good, the statement had no effect."""


class Forbidden(Transient):
    """The server answered: the mailbox user lacks a right."""


_TIMEOUTS = (ReadTimeoutError, WriteTimeoutError, ConnectionTimeoutError)

_GONE = frozenset(
    {
        *(2006, 2013, 2055),  # the driver: server gone, connection lost
        *(1053, 1152, 1184),  # shutdown in progress, connection aborted
        1927,  # MariaDB: connection was killed
        4031,  # MySQL: disconnected because of inactivity
    }
)

_BUSY = frozenset(
    {
        1205,  # lock wait timeout
        1206,  # no room for more locks
        1213,  # deadlock
    }
)

_FORBIDDEN = frozenset(
    {
        1142,  # on the table
        1143,  # on a column
    }
)

# SQLSTATE classes in which nothing works: connection, transaction rolled back, read-only, authorization,
# resources, intervention.
_OUTAGE_CLASSES = frozenset({"08", "40", "25", "28", "53", "57"})

# Those of the general classes HY000 and 42000 that speak of the server, the user or the whole table.
_OUTAGE_CODES = frozenset(
    {
        *(1021, 1114, 1037, 1038, 1041),  # disk full, table full, out of memory
        *(1040, 1129, 1130, 1203, 1226),  # too many connections, host blocked, user's limits
        *(1290, 1836, 1036, 1792),  # the server, the table, the transaction is read-only
        *(1317, 1969, 3024, 1028),  # interrupted; MariaDB's and MySQL's limit of a statement's time
        *(1016, 1017, 1026, 1030, 1034, 1035, 1194, 1195, 1814),  # files that are missing or damaged
        *(
            1044,
            1045,
            1046,
            1049,
            1146,
            1054,
            1227,
            1370,
        ),  # what was granted or there at the start is not now
        *(1820, 1862, 3118, 4150, 4151),  # password expired, account locked
        *(1099, 1100, 1015, 1223),  # LOCK TABLES
        *(1598, 1665),  # the binary log cannot take it
        *(3098, 3100, 3101),  # MySQL group replication refuses
        *(9001, 9002),  # ProxySQL: no server behind it
    }
)

_CLIENT = range(2000, 3000)

_LOGIN = (
    (
        # access denied, by a plug-in, without password; that the driver does not know
        {1045, 1698, 1251, 2059, 2061},
        "put user and password in msgx.mailbox.url right, or let this user in",
    ),
    ({1130}, "let this user in from this host"),
    ({1820, 1862, 3118, 4150, 4151}, "the owner of the mailbox has to let this user in again"),
    ({2005}, "put the host in msgx.mailbox.url right"),
)


def server_code(error: BaseException | None) -> int:
    """The number of the driver's error behind one of ours; 0 when there is none."""
    if isinstance(error, MsgxError):
        error = error.__cause__
    return (error.errno or 0) if isinstance(error, Error) else 0


def translated(error: Error, account: str = "") -> MsgxError:
    """`Rejected` for what the server says of one row, else `Transient`, as exactly as it is known.

    What no line of the table names is an answer all the same, so it is taken as a refusal of this one
    statement: one row that always fails must not stop the others (D-26). With `account` it is a connection
    that failed: who was to come in where, and what would help, are said too.
    """
    number = error.errno or 0
    text = _text_of(error)
    if account:
        remedy = next((f": {then}" for numbers, then in _LOGIN if number in numbers), "")
        text = f"{account}: {text}{remedy}"
    if isinstance(error, _TIMEOUTS):
        return Transient("mailbox", f"no answer in time ({text})")
    if number in _GONE:
        return Gone("mailbox", text)
    if number in _BUSY:
        return Busy("mailbox", text)
    if number in _FORBIDDEN:
        return Forbidden("mailbox", text)
    if (
        number <= 0
        or number in _CLIENT
        or number in _OUTAGE_CODES
        or (error.sqlstate or "")[:2] in _OUTAGE_CLASSES
    ):
        return Transient("mailbox", text)
    return Rejected("mailbox-rejected", text)


def _text_of(error: Error) -> str:
    """One line without the driver's decoration."""
    if isinstance(error, _TIMEOUTS):
        return type(error).__name__
    message = " ".join(str(error.msg or error).split())
    return f"{error.errno} {message}" if error.errno and error.errno > 0 else message
