"""What an operator does after a loss, and a consumer who looks on: for tests of docs/recovery.md."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from msgx_cli import Msgx, put
from msgx_core.rules.render import is_newer

WHY = ("--reason", "the guide says so")


def done(msgx: Msgx, *raws: bytes) -> list[int]:
    """Send, and drain."""
    ids = put(msgx, *raws)
    msgx.ok("drain")
    return ids


def store_file(msgx: Msgx) -> Path:
    """The embedded store."""
    return msgx.folder / "data" / "store.db"


def sql(path: Path, *statements: str) -> None:
    """Statements of a DBA, each committed."""
    db = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        db.execute(statement)
    db.close()


class Consumer:
    """Keeps flights as a consumer does: a notice or a full state counts when its version is newer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[int, int] = {}
        self.flights: dict[int, dict[str, Any]] = {}
        self._read = {"KAFKA_MSG": 0, "KAFKA_SCHD": 0}

    def follow(self) -> None:
        """Read what is new on both topics."""
        for value in self._new("KAFKA_SCHD"):
            for state in value["SCHD"]["FLTR"]:
                if is_newer(self.held.get(state["FLID"]), state["STATE_VERSION"]):
                    self.held[state["FLID"]] = state["STATE_VERSION"]
                    self.flights[state["FLID"]] = state
        for value in self._new("KAFKA_MSG"):
            if value["KIND"] == "DELETE" and is_newer(self.held.get(value["FLID"]), value["STATE_VERSION"]):
                self.held[value["FLID"]] = value["STATE_VERSION"]
                self.flights.pop(value["FLID"], None)

    def _new(self, topic: str) -> list[Any]:
        path = self.folder / "data" / "bus" / f"{topic}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [json.loads(line)["value"] for line in lines[self._read[topic] :]]
        self._read[topic] = len(lines)
        return found


def live(msgx: Msgx) -> dict[int, dict[str, Any]]:
    """Live flights as the store has them."""
    rows = msgx.ok("flights", "--state", "ACTIVE", "--json").json
    return {row["FLID"]: {k: v for k, v in row.items() if k != "CREATED_AT"} for row in rows}


def plain(flights: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Without what a second life counts anew."""
    left_out = ("STATE_VERSION", "UPDATED_AT", "LAST_MSG_ID")
    return {flid: {k: v for k, v in f.items() if k not in left_out} for flid, f in flights.items()}


def restored(msgx: Msgx, backup: Path) -> None:
    """The store as it was backed up."""
    for path in (msgx.folder / "data").glob("store.db*"):
        path.unlink()
    shutil.copy(backup, store_file(msgx))
