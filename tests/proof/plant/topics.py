"""What consumers find on the bus: every record of both topics, in order."""

from __future__ import annotations

import json
from typing import Any

from attrs import define, field

from msgx_adapters.bus_memory import MemoryBus


@define
class Topics:
    """Parsed records; `notices` of KAFKA_MSG by flight, `states` of KAFKA_SCHD."""

    bus: MemoryBus
    notices: list[dict[str, Any]] = field(factory=list)
    states: list[dict[str, Any]] = field(factory=list)
    _seen: set[tuple[str, int, int]] = field(factory=set)
    _read: int = 0

    def read(self) -> None:
        """Take in what has come since."""
        for record in self.bus.records[self._read :]:
            value = json.loads(record.value)
            if record.topic == "KAFKA_MSG":
                assert record.key == str(value["FLID"]), "the key is the flight (D-28)"
                self.notices.append(value)
                self._seen.add(("KAFKA:msg", value["FLID"], value["STATE_VERSION"]))
            else:
                flights = value["SCHD"]["FLTR"]
                self.states += flights
                self._seen.update(("KAFKA:schd", f["FLID"], f["STATE_VERSION"]) for f in flights)
        self._read = len(self.bus.records)

    def has(self, target: str, flid: int, version: int) -> bool:
        """Whether the bus took it."""
        return (target, flid, version) in self._seen
