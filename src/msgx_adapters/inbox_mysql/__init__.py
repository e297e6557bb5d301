"""Mailbox in MySQL or MariaDB.

**Rights.** `SELECT` on both mailbox tables, `UPDATE` of the one column of processing times, `INSERT` on the
outbound table, nothing else: `msgx migrate --grants mailbox` prints the statements of `grants.sql`, and the
tests run with such a user. `send` (the simulator, an operator's test message) needs `INSERT` on the inbound
table in addition. A shadow instance (`msgx.mailbox.write-enabled = false`) needs the two `SELECT`s.

**Fence.** A write with a permit carries its end, by the server's own clock: a statement that arrives later,
because whoever sent it was stopped, changes nothing. Each is one statement in a transaction of its own, so
that nothing is left open to be committed later.

**Index.** Every scan looks for rows without a processing time. Without an index it reads the whole table five
times a second; its owner should make one on the processing time and the id:

    CREATE INDEX CMINMSGS_UNPROCESSED ON CMINMSGS (CMINMSGS_DATE_PROCESSED, CMINMSGS_ID);

**Sizes.** Whoever writes a message needs `max_allowed_packet` of the server above it (16 MB for the 10 MB of
CIIMS): its owner, and `send`, which says so. Reading has no such limit.

**Character sets.** The connection is in `utf8mb4`; tables may be in any, the server converts. A column of
bytes (`BLOB`) gives bytes, which the codec decodes by their declaration.

**Times** are airport local time in whole seconds, written and read as text, so that no time zone of the
server or of the session takes part. A zero date is no time.
"""

from .grants import grants_sql
from .inbox import MysqlInbox
from .statements import Columns

__all__ = ["Columns", "MysqlInbox", "grants_sql"]
