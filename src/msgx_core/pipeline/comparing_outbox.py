"""The comparison of the outbox's full states, one for each flight, with those computed again (D-29, D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from attrs import evolve, frozen

from msgx_core.pipeline.checking_events import fitting
from msgx_core.pipeline.comparing_rest import ComparingRest
from msgx_core.pipeline.differences import Difference, json_parts
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.recomputed import Document, document_digest
from msgx_core.pipeline.timeline import Timeline
from msgx_core.ports.inspection import EVENTS, StoredRow, Unreadable
from msgx_core.rules.render import flight_document, to_json


@frozen
class ComparingOutbox:
    """Only what is there: retention takes what was sent. What `republish` wrote has a time of its own."""

    rest: ComparingRest
    timeline: Timeline
    policies: Policies

    def documents(self) -> None:
        """The full state of each flight."""
        flights = self.rest.flights
        places: list[tuple[int, int, int]] = []
        for row in flights.store.stored_documents():
            flid = row["FLID"]
            self.rest.count("event_schd", row["EVENT_ID"])
            flights.tell(fitting(f"schd/{flid}", row))
            mine = flights.world.documents.get(flid)
            found = list(self._document(row, mine))
            republished, at = self.timeline.republished, row["CREATED_AT"]
            if republished is not None and isinstance(at, datetime) and at <= republished:
                found = list(self._once_more(row, mine))
            elif mine is not None and at == mine.at and isinstance(row["EVENT_ID"], int):
                places.append((mine.number, row["EVENT_ID"], flid))
            state = flights.world.flights.get(flid)
            relatives = () if state is None else (child.flid for child in state.mafl)
            flights.suspect(found, {flid, *relatives}, row["MSG_ID"])
        self._order(places)
        flights.settle()

    def _order(self, places: list[tuple[int, int, int]]) -> None:
        """Ids of events rise in the order in which they were written (D-27)."""
        last = 0
        for _, event_id, flid in sorted(places):
            if event_id <= last:
                key = f"schd/{flid}"
                wanted = f"more than {last}"
                each = Difference("event", EVENTS.name, key, "EVENT_ID", event_id, wanted)
                self.rest.flights.suspect([each], {flid})
            last = max(last, event_id)

    def _document(self, row: StoredRow, mine: Document | None) -> Iterator[Difference]:
        key = f"schd/{row['FLID']}"
        if mine is None:
            yield Difference("event", EVENTS.name, key, "FLID", row["FLID"], None)
            return
        computed = {"STATE_VERSION": mine.version, "MSG_ID": mine.msg_id, "CREATED_AT": mine.at}
        for name, value in computed.items():
            if row[name] != value and not isinstance(row[name], Unreadable):
                yield Difference("event", EVENTS.name, key, name, row[name], value)
        payload = row["PAYLOAD"]
        if not isinstance(payload, Unreadable) and document_digest(payload) != mine.digest:
            stored, wanted = self._parts(row["FLID"], payload, mine)
            yield Difference("event", EVENTS.name, key, "PAYLOAD", stored, wanted)

    def _once_more(self, row: StoredRow, mine: Document | None) -> Iterator[Difference]:
        """What differs of one that `republish` wrote: the state of then, with the version of then."""
        flid, at, key = row["FLID"], row["CREATED_AT"], f"schd/{row['FLID']}"
        if mine is None or at <= mine.at:
            yield from self._document(row, mine)
            return
        computed = {"STATE_VERSION": mine.version + self.timeline.raised(mine.at, at), "MSG_ID": mine.msg_id}
        for name, value in computed.items():
            if row[name] != value and not isinstance(row[name], Unreadable):
                yield Difference("event", EVENTS.name, key, name, row[name], value)
        state = self.rest.flights.world.flights.get(flid)
        payload = row["PAYLOAD"]
        if state is None or isinstance(payload, Unreadable):
            return
        state = evolve(state, version=computed["STATE_VERSION"], last_msg_id=mine.msg_id)
        texts = [to_json(flight_document(state, policy)) for policy in self.policies.kept()]
        if document_digest(payload) not in map(document_digest, texts):
            stored, wanted = json_parts(payload, texts[0])
            yield Difference("event", EVENTS.name, key, "PAYLOAD", stored, wanted)

    def _parts(self, flid: int, payload: str, mine: Document) -> tuple[Any, Any]:
        """What differs, where the text of which the digest is kept can be made again."""
        state = self.rest.flights.world.flights.get(flid)
        if state is not None:
            state = evolve(state, version=mine.version, last_msg_id=mine.msg_id)
            for policy in self.policies.known():
                text = to_json(flight_document(state, policy))
                if document_digest(text) == mine.digest:
                    return json_parts(payload, text)
        return payload, "another text"
