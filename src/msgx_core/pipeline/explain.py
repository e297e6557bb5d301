"""Why a message did what it did: its rules in order and the effect on each flight, field by field (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from attrs import define, evolve, field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import Change
from msgx_core.model.flight import FlightState
from msgx_core.model.message import DecodedMessage, MsgKind
from msgx_core.model.request import BindRequest, FailRequest, RequestEffect, RequestState
from msgx_core.pipeline.basis import LOST_LIST, Bases
from msgx_core.pipeline.desk import Apply, Work, dead
from msgx_core.pipeline.heads import is_blank
from msgx_core.pipeline.misplaced import last_number
from msgx_core.pipeline.past import ReadStore, message_of
from msgx_core.pipeline.past_lists import PastLists
from msgx_core.pipeline.recompute import Policies, TextSource, decided
from msgx_core.pipeline.ref_lists import RefLists
from msgx_core.pipeline.telling import closed, differs, end, ended, fault, let_in, named_flights, other, unit
from msgx_core.pipeline.traces import Ruled, traced, until_closed
from msgx_core.pipeline.verify import ignore
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.operations import Row
from msgx_core.rules.policy import Policy

_MOST = 1000
_REFUSAL = "EROR"
_DECIDED_BY_OTHERS = ("duplicate-of", "unmatched-response", "no-open-request", "ambiguous-error")
"""Reasons that identities and requests gave, which are not recomputed."""


@frozen
class Explanation:
    """`basis` says on which state the effects are; `before` has each flight of the change as it was there.

    `lists` are the reference data that were there before; None: nobody knows them, or they are not concerned.
    `note` is set when the decision comes out otherwise than it is recorded.
    """

    row: Row
    steps: tuple[Ruled, ...]
    basis: str | None = None
    change: Change | None = None
    before: Mapping[int, FlightState] = field(factory=dict)
    policy: Policy | None = None
    note: str | None = None
    lists: RefLists | None = None


@define
class Explainer:
    """Reads store, archive and mailbox; writes nothing."""

    store: ReadStore
    text: TextSource
    codec: Codec
    policies: Policies
    now: datetime
    progress: Callable[[int], None] = ignore
    steps: Callable[[], Iterable[DepartureStep]] = tuple

    def explain(self, msg_id: int) -> Explanation | None:
        """The story of one message; None when the store does not know it."""
        row = message_of(self.store, msg_id)
        if row is None:
            return None
        raw = self.text(row)
        if raw is None or is_blank(raw):
            gone = Ruled("the text", "IMP §5.2, D-36", "nobody has it any more")
            return Explanation(row, (gone, *end(row)))
        steps = [Ruled("the text", "IMP §4.1, D-36", f"{len(raw)} {unit(raw)}")]
        policy = self.policies.of(row.get("COVERAGE"))
        try:
            message = self.codec.decode(raw)
        except MessageError as error:
            return Explanation(row, (*steps, *ended(row, error)), note=differs(row, dead(error)))
        except Exception as error:
            return Explanation(row, (*steps, fault("codec-exception", error), *end(row)))
        steps += let_in(message, row, policy)
        reason = str(row.get("REASON") or "")
        if reason.startswith(_DECIDED_BY_OTHERS) or message.kind is MsgKind.UNSUPPORTED:
            return Explanation(row, (*steps, *end(row)))
        return self._decided(row, raw, message, policy, steps)

    def _decided(
        self, row: Row, raw: RawText, message: DecodedMessage, policy: Policy, steps: list[Ruled]
    ) -> Explanation:
        def locate(error: MessageError) -> None:
            self.codec.locate(raw, error)

        at = row.get("APPLIED_AT") or row.get("FINISHED_AT") or self.now
        received = row.get("RECEIVED_AT") or row.get("ENQUEUED_AT") or at
        work = Work(row["MSG_ID"], message, received, 0.0, locate)
        bases = Bases(self.store, self.text, self.codec, self.policies, self.progress, self.steps)
        world, basis = bases.of(row, named_flights(message), at)
        try:
            decision = decided(work, world, policy, at, row.get("COVERAGE"))
        except MessageError as error:
            locate(error)
            note = differs(row, dead(error))
            return Explanation(row, (*steps, *ended(row, error)), basis, policy=policy, note=note)
        except Exception as error:
            told = (*steps, fault("handler-exception", error), *end(row))
            return Explanation(row, told, basis, policy=policy)
        if not isinstance(decision, Apply):
            outcome = decision.outcome
            told = (*steps, *until_closed(message, outcome, policy), *closed(row, outcome))
            return Explanation(row, told, basis, policy=policy, note=other(row, decision))
        change = self._recorded(row, decision.change)
        before = {
            put.state.flid: state
            for put in change.flights
            if (state := world.flights.get(put.state.flid)) is not None
        }
        told = (*steps, *traced(message, change, policy), *end(row))
        lists = None
        if change.reference:
            lists = self._lists(message.meta.type, row)
            basis = basis if lists is not None else LOST_LIST
        return Explanation(row, told, basis, change, before, policy, other(row, decision), lists)

    def _lists(self, rtype: str, row: Row) -> RefLists | None:
        past = PastLists(self.store, self.text, self.codec, self.policies)
        return past.before(rtype, row.get("APPLY_NO") or last_number(self.store) + 1)

    def _recorded(self, row: Row, change: Change) -> Change:
        """What hangs on more than flights, as it is recorded: coverage, request, alerts about the sender."""
        if change.coverage is None:
            change = evolve(change, coverage=row.get("COVERAGE"))
        if row.get("APPLIED_AT") is None:
            return change
        rows = self.store.alerts(acknowledged=True, limit=_MOST, msg_id=row["MSG_ID"])
        alerts = (
            Alert(AlertCode(each["CODE"]), each["MSG_ID"], each.get("FLID"), each.get("DETAIL"))
            for each in rows
            if each["CODE"] in AlertCode.__members__ and each["CREATED_AT"] == row["APPLIED_AT"]
        )
        return evolve(change, alerts=tuple(alerts), request=self._request(row))

    def _request(self, row: Row) -> RequestEffect | None:
        """The request that the message answered or refused, while that is remembered."""
        if row.get("TYPE") == _REFUSAL:
            # It leaves no number with the request, but closes it at the moment of its effects.
            return next(
                (
                    FailRequest(each.request_id, each.reason or "eror")
                    for each in self.store.requests(limit=_MOST)
                    if each.state is RequestState.FAILED and each.closed_at == row["APPLIED_AT"]
                ),
                None,
            )
        requests = self.store.requests(limit=_MOST) if row.get("STYP") == "RESP" else ()
        found = (each.request_id for each in requests if each.resp_msg_id == row["MSG_ID"])
        return next(map(BindRequest, found), None)
