"""PgBouncer in transaction mode before a PostgreSQL of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
from attrs import frozen

from services.base import NotHere, PrivateServer, binary, free_port, private_folder, unavailable, unprivileged
from services.postgres import answers


@frozen
class PrivatePooler:
    """A pooler of the test's own: `url` goes through it, `console` is its own database."""

    url: str
    console: str
    server: PrivateServer

    def transactions(self) -> int:
        """How many transactions have gone through it, all databases together."""
        with psycopg.connect(self.console, autocommit=True) as asked:
            # The console does not know the protocol of parameters.
            cursor = psycopg.ClientCursor(asked).execute("SHOW STATS_TOTALS")
            assert cursor.description is not None
            names = [column.name for column in cursor.description]
            return sum(int(row[names.index("xact_count")]) for row in cursor)

    def connections(self) -> int:
        """How many connections to the server it has made and kept."""
        with psycopg.connect(self.console, autocommit=True) as asked:
            return len(psycopg.ClientCursor(asked).execute("SHOW SERVERS").fetchall())


@contextmanager
def pgbouncer(url: str, *, pool_size: int = 2) -> Iterator[PrivatePooler]:
    """A pooler with so few connections to the server at `url` that sessions are shared all the time.

    Skips, or fails, by name where PgBouncer is not installed.
    """
    try:
        program, user = binary("pgbouncer", "/usr/sbin"), unprivileged("postgres")
    except NotHere as why:
        unavailable("PgBouncer", str(why))
    parts = urlsplit(url)
    port = free_port()
    through = parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}")
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "any",  # whoever comes in is the user of the one database, and may use the console
        "pool_mode": "transaction",
        "default_pool_size": pool_size,
        "max_client_conn": 200,
        "query_wait_timeout": 20,
    }

    def ready() -> bool:
        try:
            answers(through.geturl())
        except psycopg.Error:
            return False
        return True

    with private_folder(user) as folder:
        lines = [f"* = host={parts.hostname} port={parts.port or 5432} user={parts.username}", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        (folder / "pgbouncer.ini").write_text("\n".join(["[databases]", *lines, ""]))
        server = PrivateServer([program, str(folder / "pgbouncer.ini")], folder, ready, user)
        server.start()
        try:
            yield PrivatePooler(through.geturl(), through._replace(path="/pgbouncer").geturl(), server)
        finally:
            server.stop()
