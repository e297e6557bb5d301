"""The schema of the database and its version."""

from __future__ import annotations

from importlib.resources import files
from uuid import uuid4

from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.statement import Statement, in_schema, statement
from msgx_adapters.store_postgres.tables import comments, places
from msgx_adapters.store_postgres.target import DEFAULT_SCHEMA
from msgx_core.errors import ConfigError

VERSION = 1
"""The schema that this program reads and writes; `STORE_INFO` has it as `schema-version`."""

_SCHEMA_NAME = "to_regclass"
_TEMPLATES = "templates.sql"
_OLDEST_SERVER = 140000

_VERSION_OF = statement(
    "schema_version",
    "SELECT current_setting('server_version_num')::integer AS SERVER,"
    " to_regclass(:info::text) IS NOT NULL AS PRESENT",
)


def schema_sql(schema: str = DEFAULT_SCHEMA) -> str:
    """The whole schema as one script, as `msgx migrate --sql` prints it; the store's id comes with it."""
    folder = files(__package__).joinpath("schema")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names if name != _TEMPLATES]
    text = "\n".join(["CREATE SCHEMA IF NOT EXISTS msgx.;\n".replace("msgx.", "{{schema}}"), *parts, _seed()])
    for place, content in {**places(), "comments": comments()}.items():
        text = text.replace("{{" + place + "}}", content)
    return in_schema(text, schema).replace("{{schema}}", f'"{schema}"')
