"""The settings that a store has kept, checked before use: their digests, and the identity (D-23, D-36)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from msgx_core.pipeline.differences import Difference, key_text, unreadable
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.selfcheck import IDENTITY_PIN
from msgx_core.ports.inspection import PINS, Inspection
from msgx_core.rules.policy_text import POLICY_PIN, text_digest

_DAYS = {"true": True, "false": False}


@frozen
class Settings:
    """Tells `found` what is wrong about the settings themselves, ahead of all that follows from it."""

    store: Inspection
    policies: Policies
    found: Callable[[Difference], None]

    def by_day(self) -> bool | None:
        """Check all; whether identities have the day in them, None where nobody can say."""
        held: dict[str, str] = {}
        for row in self.store.stored(PINS):
            name, text = row["NAME"], row["VALUE"]
            for each in unreadable("settings", PINS, f"pin.{key_text(name)}", row):
                self.found(each)
            if isinstance(name, str) and isinstance(text, str):
                held[name] = text
        for name, text in sorted(held.items()):
            digest = name.removeprefix(POLICY_PIN)
            if name != digest and text_digest(text) != digest:
                self._tell(name, text, "another text")
        if not held:
            return None
        return self._identity(held.get(IDENTITY_PIN))

    def _identity(self, text: str | None) -> bool | None:
        """The choice that was made at the first start; no start goes on with another one."""
        wanted = self.policies.today.include_day_boundary
        if text is not None and _DAYS.get(text) is wanted:
            return wanted
        self._tell(IDENTITY_PIN, text, str(wanted).lower())
        return None

    def _tell(self, name: str, stored: str | None, computed: str) -> None:
        self.found(Difference("settings", PINS.name, f"pin.{name}", "VALUE", stored, computed))
