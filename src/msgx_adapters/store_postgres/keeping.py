"""Facts about the store itself."""

from __future__ import annotations

from msgx_adapters.store_postgres.session import Role


class KeepingRole(Role):
    """`ports.store.Keeping`."""

    def store_id(self) -> str:
        """A random id made with the store (D-31)."""
        return str(self.read_rows("info", name="id")[0]["VALUE"])

    def pin(self, name: str, value: str) -> str:
        """Store a choice at first use; the value in force (D-23)."""
        self.write("put_info", name=f"pin.{name}", value=value)
        return str(self.read_rows("info", name=f"pin.{name}")[0]["VALUE"])

    def ping(self) -> None:
        """Return when the store answers, else raise `Transient`."""
        self.read_rows("ping")
