"""What the adapters of a MySQL or MariaDB mailbox share: URL, connection, errors, names."""

from .checking import checked
from .errors import Busy, Forbidden, Gone, server_code
from .link import Link
from .permits import NEVER, TRIES, too_late, until
from .rights import LONG_AGO, Table
from .session import Result, Session
from .statements import filled, filled_list, quoted
from .target import Target

__all__ = [
    "LONG_AGO",
    "NEVER",
    "TRIES",
    "Busy",
    "Forbidden",
    "Gone",
    "Link",
    "Result",
    "Session",
    "Table",
    "Target",
    "checked",
    "filled",
    "filled_list",
    "quoted",
    "server_code",
    "too_late",
    "until",
]
