"""Facts about the store itself."""

from __future__ import annotations

from msgx_adapters.store_sqlite.schema import relations
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_core.errors import Transient


class KeepingRole(Role):
    """`ports.store.Keeping`."""

    def store_id(self) -> str:
        """A random id made with the store (D-31)."""
        with self.reader.read():
            return str(self.reader.value(SQL["info"], {"name": "id"}))

    def pin(self, name: str, value: str) -> str:
        """Store a choice at first use; the value in force (D-23)."""
        values = {"name": f"pin.{name}", "value": value}
        with self.db.write():
            self.db.run(SQL["put_info"], values)
            return str(self.db.value(SQL["info"], values))

    def ping(self) -> None:
        """Return when the store answers and has its tables, else raise `Transient`."""
        with self.db.read():
            self.db.value(SQL["ping"])
            there = {row["name"].lower() for row in self.db.rows(SQL["relations"])}
        missing = ", ".join(name for name in relations() if name.lower() not in there)
        if missing:
            raise Transient("store", f"these tables are missing: {missing}")
