"""Store suite: requests on their way out (D-32)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from msgx_core.errors import Fenced
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.request import BindRequest, FailRequest, Request, RequestSlot, RequestState
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, DAY, NEXT_DAY, NOW, apply, later, request
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, one

LOST = Alert(AlertCode.SEND_LOST, detail="the outbound table does not have it")
RQRD = RequestSlot.RQRD

WRITES: dict[str, Callable[[Store], object]] = {
    "ask": lambda s: s.ask(request(RQRD, rtype="GLST"), AUDIT, NOW),
    "begin_send": lambda s: s.begin_send(1, NOW),
    "confirm_sent": lambda s: s.confirm_sent(1, NOW),
    "lose_send": lambda s: s.lose_send(1, LOST, NOW),
    "expire_requests": lambda s: s.expire_requests(NOW, NOW),
}


def _asked(store: Store, slot: RequestSlot = RequestSlot.RQFD, **more: Any) -> int:
    return store.create_request(request(slot, **more), AUDIT, NOW).request_id


def _sent(store: Store, slot: RequestSlot = RequestSlot.RQFD, at: float = 0) -> int:
    asked = _asked(store, slot)
    store.begin_send(asked, NOW)
    assert store.confirm_sent(asked, later(at))
    return asked


def _found(store: Store, request_id: int) -> Request:
    return next(r for r in store.requests() if r.request_id == request_id)


class RequestContract(StoreContract):
    """`ports.store_later.RequestWork`."""

    def test_what_is_pending(self, held: Store) -> None:
        """D-32: by id, with or without `SEND_STARTED_AT`; nothing else."""
        schedule = _asked(held, first_day=DAY, last_day=NEXT_DAY)
        reference = _asked(held, RQRD, rtype="GLST")
        begun = held.begin_send(reference, later(1))
        assert begun is not None
        first, second = held.pending_requests()
        assert (first.request_id, first.first_day, first.last_day) == (schedule, DAY, NEXT_DAY)
        assert (first.send_started_at, second) == (None, begun)
        held.confirm_sent(reference, later(2))
        assert [r.request_id for r in held.pending_requests()] == [schedule]

    def test_sending_begins_once_with_the_next_number(self, held: Store, oracle: Oracle) -> None:
        """D-32: time and number are committed together; numbers count 1, 2, 3 over both slots."""
        schedule = _asked(held, seqn="99")
        reference = _asked(held, RQRD, rtype="GLST")
        begun = held.begin_send(schedule, later(1))
        assert begun is not None
        assert (begun.seqn, begun.send_started_at, begun.state) == ("1", later(1), RequestState.PENDING)
        assert held.begin_send(schedule, later(2)) is None
        other = held.begin_send(reference, later(3))
        assert other is not None
        assert other.seqn == "2"
        assert held.begin_send(99, NOW) is None
        assert _found(held, schedule) == begun
        assert one(oracle, "SELECT VALUE FROM COUNTERS WHERE NAME = 'outbound_seqn'")["VALUE"] == 2
        assert one(oracle, "SELECT DISTINCT EPOCH AS E FROM REQ_TRACK")["E"] == held.lease().epoch

    def test_numbers_go_on_in_another_store(self, held: Store, another: Another) -> None:
        """D-32: the number belongs to the data, so a restart or a takeover repeats none."""
        held.begin_send(_asked(held), NOW)
        held.release_lease()
        second = another(held)
        second.acquire_lease("second", 60.0)
        begun = second.begin_send(_asked(second), NOW)
        assert begun is not None
        assert begun.seqn == "2"

    def test_confirmation_needs_a_begin(self, held: Store) -> None:
        """R-337: `PENDING → SENT` once, and only what was begun."""
        asked = _asked(held)
        assert not held.confirm_sent(asked, NOW)
        held.begin_send(asked, NOW)
        assert held.confirm_sent(asked, later(2))
        assert not held.confirm_sent(asked, later(3))
        sent = _found(held, asked)
        assert (sent.state, sent.sent_at, sent.seqn) == (RequestState.SENT, later(2), "1")

    def test_an_answer_overtakes_the_confirmation(self, held: Store) -> None:
        """D-32: an answer while it is PENDING takes it through SENT; the confirmation finds it so."""
        asked = _asked(held)
        held.begin_send(asked, NOW)
        apply(held, 1, request=BindRequest(asked))
        assert not held.confirm_sent(asked, later(1))
        assert not held.lose_send(asked, LOST, later(1))
        held.finish(1, later(2))
        assert not held.confirm_sent(asked, later(3))
        done = _found(held, asked)
        assert (done.state, done.sent_at, done.resp_msg_id) == (RequestState.DONE, NOW, 1)

    def test_what_was_answered_or_refused_first_is_not_sent(self, held: Store) -> None:
        """D-32: not ours to send any more."""
        answered, refused = _asked(held), _asked(held, RQRD)
        apply(held, 1, request=BindRequest(answered))
        apply(held, 2, request=FailRequest(refused, "eror"))
        before = held.requests()
        assert [held.begin_send(each, NOW) for each in (answered, refused)] == [None, None]
        assert held.requests() == before
        assert held.pending_requests() == []

    def test_a_lost_one_fails_with_its_alert(self, held: Store, oracle: Oracle) -> None:
        """D-32: `FAILED(send-lost)`, the alert in the same write, once."""
        asked = _asked(held)
        assert not held.lose_send(asked, LOST, NOW)
        held.begin_send(asked, NOW)
        assert held.lose_send(asked, LOST, later(5))
        assert not held.lose_send(asked, LOST, later(6))
        lost = _found(held, asked)
        assert (lost.state, lost.reason, lost.closed_at) == (RequestState.FAILED, "send-lost", later(5))
        assert [(a["CODE"], a["DETAIL"]) for a in held.alerts()] == [("SEND_LOST", LOST.detail)]
        assert held.open_request(RequestSlot.RQFD) is None
        assert count(oracle, "OPS_ALERT") == 1

    def test_one_without_an_answer_expires(self, held: Store) -> None:
        """R-332: `SENT` then or before, `EXPIRED(timeout)`; ids ascending, once."""
        first, second = _sent(held, at=10), _sent(held, RQRD, at=20)
        assert list(held.expire_requests(later(9.999999), later(30))) == []
        assert list(held.expire_requests(later(10), later(30))) == [first]
        assert list(held.expire_requests(later(99), later(40))) == [second]
        assert list(held.expire_requests(later(99), later(50))) == []
        expired = _found(held, first)
        assert (expired.state, expired.reason) == (RequestState.EXPIRED, "timeout")
        assert (expired.closed_at, expired.sent_at) == (later(30), later(10))

    def test_bound_and_pending_ones_do_not_expire(self, held: Store) -> None:
        """D-32: a bound request does not expire; one that is not sent waits for nothing yet."""
        bound, pending = _sent(held), _asked(held, RQRD)
        held.begin_send(pending, NOW)
        apply(held, 1, request=BindRequest(bound))
        assert list(held.expire_requests(later(9_999), later(9_999))) == []
        held.finish(1, NOW)
        assert _found(held, bound).state is RequestState.DONE

    def test_asking_takes_a_free_slot_only(self, held: Store, oracle: Oracle) -> None:
        """D-32: msgx's own request is audited and replaces none."""
        asked = held.ask(request(first_day=DAY, last_day=DAY), AUDIT, later(1))
        assert asked is not None
        assert held.open_request(RequestSlot.RQFD) == asked
        assert (asked.state, asked.first_day, asked.created_at) == (RequestState.PENDING, DAY, NOW)
        assert held.ask(request(first_day=NEXT_DAY, last_day=NEXT_DAY), AUDIT, NOW) is None
        assert held.ask(request(RQRD, rtype="GLST"), AUDIT, NOW) is not None
        assert [a["ACTION"] for a in held.audit()] == ["ask_request"] * 2
        assert held.audit()[-1]["TARGET"] == asked.request_id
        assert count(oracle, "REQ_TRACK") == 2
        held.begin_send(asked.request_id, NOW)
        held.confirm_sent(asked.request_id, NOW)
        assert held.ask(request(), AUDIT, NOW) is None
        held.expire_requests(later(1), later(1))
        assert held.ask(request(), AUDIT, NOW) is not None

    @pytest.mark.parametrize("name", WRITES)
    def test_every_write_is_fenced(self, held: Store, another: Another, oracle: Oracle, name: str) -> None:
        """D-34: a stale leader sends, confirms and expires nothing."""
        _sent(held)
        successor = another(held)
        held.release_lease()
        successor.acquire_lease("successor", 60.0)
        before = everything(oracle)
        with pytest.raises(Fenced):
            WRITES[name](held)
        assert everything(oracle) == before

    def test_a_replaced_one_is_not_confirmed(self, held: Store) -> None:
        """D-32, R-334: a new request expires the old, also while that is being sent."""
        old = _asked(held)
        held.begin_send(old, NOW)
        _asked(held)
        assert not held.confirm_sent(old, later(1))
        assert not held.lose_send(old, LOST, later(1))
        replaced = _found(held, old)
        assert (replaced.state, replaced.reason) == (RequestState.EXPIRED, "replaced")
        expired_since = NOW - timedelta(hours=1)
        assert old in {r.request_id for r in held.open_requests(RequestSlot.RQFD, expired_since)}
