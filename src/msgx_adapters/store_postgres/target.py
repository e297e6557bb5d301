"""`postgresql://user:password@host:port/database?option=value` as what libpq wants, and the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from attrs import evolve, field, frozen
from psycopg import pq

from msgx_core.errors import ConfigError

_SETTING = "msgx.store.url"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_KEEPALIVE = {"keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "3", "keepalives_count": "3"}
DEFAULT_SCHEMA = "msgx"


@frozen
class Target:
    """Where the store is. `options` may hold the password: they are never shown."""

    name: str
    schema: str
    options: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, url: str, schema: str | None = None) -> Target:
        """Parse a URL as libpq does, and the option `schema`, which is ours; `ConfigError` if it is none."""
        try:
            parts = urlsplit(url)
            query = parse_qsl(parts.query, keep_blank_values=True)
            named = [value for key, value in query if key == "schema"]
            rest = urlencode([(key, value) for key, value in query if key != "schema"], quote_via=quote)
            conninfo = parts._replace(query=rest, scheme="postgresql").geturl()
            parsed = pq.Conninfo.parse(conninfo.encode())
            options = {o.keyword.decode(): o.val.decode() for o in parsed if o.val is not None}
            [int(port) for port in options.get("port", "5432").split(",") if port]
        except Exception:  # its message may hold the password
            raise ConfigError(
                [f"{_SETTING} is not of the form postgresql://USER@HOST:5432/DATABASE"]
            ) from None
        found = schema or (named[-1] if named else DEFAULT_SCHEMA)
        if _SCHEMA.fullmatch(found) is None or found.startswith("pg_") or found == "information_schema":
            raise ConfigError(
                [f"{_SETTING}: {found!r} cannot be the schema: small letters, digits and _ only"]
            )
        return cls(f"{_place(options)} schema {found}", found, options)

    @property
    def account(self) -> str:
        """Who comes in, and where; without the password."""
        user = self.options.get("user")
        return f"as {user} on {_place(self.options)}" if user else f"on {_place(self.options)}"

    def conninfo(self, timeout_s: float, settings: Mapping[str, str]) -> bytes:
        """Connection string with keepalives; `settings` are server settings of each session."""
        options = {
            "application_name": "msgx",
            **_KEEPALIVE,
            "tcp_user_timeout": str(round(timeout_s * 1000)),
            **self.options,
            "client_encoding": "UTF8",
        }
        if settings:
            given = options.get("options", "")
            options["options"] = " ".join([given, *(f"-c {key}={value}" for key, value in settings.items())])
        return " ".join(f"{key}={_quoted(value)}" for key, value in options.items()).encode()

    def with_schema(self, schema: str) -> Target:
        """The same database, another schema."""
        return evolve(self, schema=schema)


def _place(options: Mapping[str, str]) -> str:
    host = options.get("host", "the local socket")
    return f"{host}:{options.get('port', '5432')}/{options.get('dbname', '')}"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
