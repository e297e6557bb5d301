"""Facts about the store itself."""

from __future__ import annotations

from msgx_adapters.store_sqlite.session import SQL, Role


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
        """Return when the store answers, else raise `Transient`."""
        with self.db.read():
            self.db.value(SQL["ping"])
