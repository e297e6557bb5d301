"""Facts about the store itself."""

from __future__ import annotations

from msgx_adapters.store_postgres.schema import relations
from msgx_adapters.store_postgres.session import Role
from msgx_core.errors import Transient


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
        """Return when the store answers, has its tables and takes writes, else raise `Transient` (D-04)."""
        (found,) = self.read_rows("ping", relations=list(relations()))
        if found["MISSING"]:
            raise Transient("store", f"these tables are missing: {found['MISSING']}")
        if found["IS_READ_ONLY"]:
            raise Transient("store", "the server is read-only")
        if found["NOT_OURS"]:
            raise Transient("store", f"the rights on these tables are missing: {found['NOT_OURS']}")
