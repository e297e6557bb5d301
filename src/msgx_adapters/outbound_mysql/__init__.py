"""Outbound rows in MySQL or MariaDB. Needs `SELECT` and `INSERT` on the outbound table, nothing else.

The statements that grant it are in `grants.sql` of `msgx_adapters.inbox_mysql`.
"""

from .outbound import Columns, MysqlOutbound

__all__ = ["Columns", "MysqlOutbound"]
