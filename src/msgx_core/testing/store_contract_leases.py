"""Store suite: one active instance, and what an instance without the lease may do (D-34)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from msgx_core.errors import Fenced
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.proc import AbandonReason, NewMessage
from msgx_core.model.schedule import SnapshotLogRow, SnapshotResult
from msgx_core.ports import Store
from msgx_core.testing.builders import NOW, binding, change, dead, enqueue, flight, later, put
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything

SHORT_S = 0.05
ALERT = Alert(AlertCode.DEAD_EVENT)

FENCED: dict[str, Callable[[Store], object]] = {
    "enqueue": lambda s: s.enqueue([NewMessage(9, None)], NOW),
    "bind": lambda s: s.bind(binding(1), NOW),
    "close_unapplied": lambda s: s.close_unapplied(1, dead(), [ALERT], NOW),
    "fail": lambda s: s.fail(1, "INFRA", "raw-unreadable", None, later(1), NOW),
    "set_trying": lambda s: s.set_trying(1, True),
    "count_interrupted": lambda s: s.count_interrupted(NOW),
    "apply": lambda s: s.apply(change(1, put(flight(7)))),
    "finish": lambda s: s.finish(1, NOW),
    "log_snapshots": lambda s: s.log_snapshots([SnapshotLogRow(1, NOW, SnapshotResult.COMMITTED)]),
    "claim_writebacks": lambda s: s.claim_writebacks(NOW, NOW, 10, later(60)),
    "writebacks_done": lambda s: s.writebacks_done([2], NOW),
    "writeback_retry": lambda s: s.writeback_retry(2, later(5), ALERT, NOW),
    "writeback_abandon": lambda s: s.writeback_abandon(2, AbandonReason.MISSING_ROW, ALERT, NOW),
    "release_claims": lambda s: s.release_claims([2]),
    "settle_events": lambda s: s.settle_events(
        [EventSettled(1, Target.MSG, 7, 1, EventStatus.SENT)], [ALERT], NOW
    ),
    "renew_lease": lambda s: s.renew_lease(60.0),
    "extend_lease": lambda s: s.extend_lease(),
}


class LeaseContract(StoreContract):
    """`ports.store.Leases` and the fence of every other method."""

    def test_a_free_lease_is_granted_and_raises_the_epoch(self, store: Store) -> None:
        """D-34: the epoch rises in the transaction that takes the lease."""
        before = store.lease()
        assert before.holder is None
        grant = store.acquire_lease("a", 60.0)
        assert grant.granted
        assert not grant.unclean
        assert (grant.view.holder, grant.view.epoch) == ("a", before.epoch + 1)
        assert 50 < store.lease().expires_in_s <= 60

    def test_a_live_lease_is_not_granted_to_another(self, held: Store, another: Another) -> None:
        """R-461, D-34: a standby waits; asking changes nothing."""
        grant = another(held).acquire_lease("b", 60.0)
        assert not grant.granted
        assert grant.view.holder == "holder"
        assert held.lease().epoch == grant.view.epoch
        enqueue(held, 1)

    def test_an_expired_lease_is_taken_over_as_unclean(self, store: Store, another: Another) -> None:
        """D-05, D-34: expiry is of the store's clock; the holder before did not release."""
        store.acquire_lease("a", SHORT_S)
        time.sleep(2 * SHORT_S)
        assert store.lease().expires_in_s < 0
        grant = another(store).acquire_lease("b", 60.0)
        assert grant.granted
        assert grant.unclean

    def test_a_released_lease_is_taken_over_clean(self, held: Store, another: Another) -> None:
        """D-05: a clean end leaves no suspicion; release is idempotent."""
        held.release_lease()
        held.release_lease()
        assert held.lease().holder is None
        grant = another(held).acquire_lease("b", 60.0)
        assert grant.granted
        assert not grant.unclean

    def test_an_instance_takes_its_own_lease_again(self, held: Store) -> None:
        """D-34: our own lease is granted at any time, with a new epoch, and is not unclean."""
        epoch = held.lease().epoch
        grant = held.acquire_lease("holder", 60.0)
        assert grant.granted
        assert not grant.unclean
        assert grant.view.epoch == epoch + 1
        enqueue(held, 1)

    def test_a_restarted_instance_of_the_same_name_is_unclean(self, held: Store, another: Another) -> None:
        """D-05: a new object with the old name has crashed before."""
        grant = another(held).acquire_lease("holder", 60.0)
        assert grant.granted
        assert grant.unclean
        with pytest.raises(Fenced):
            enqueue(held, 1)

    def test_renewing_keeps_the_lease(self, store: Store, another: Another) -> None:
        """D-34: a renewed lease does not run out."""
        store.acquire_lease("a", SHORT_S)
        store.renew_lease(60.0)
        time.sleep(2 * SHORT_S)
        assert not another(store).acquire_lease("b", 60.0).granted

    def test_extending_gives_what_it_was_taken_for(self, store: Store) -> None:
        """D-34: also when it had run out; the answer is how long it lasts from the call on."""
        store.acquire_lease("a", SHORT_S)
        time.sleep(2 * SHORT_S)
        assert store.extend_lease() == SHORT_S
        store.renew_lease(60.0)
        time.sleep(0.2)
        assert store.extend_lease() == 60.0
        assert store.lease().expires_in_s > 59.9

    def test_applying_extends_the_lease(self, store: Store) -> None:
        """D-34: a long ① may keep the renewing thread waiting, so ① itself extends the lease."""
        store.acquire_lease("a", 60.0)
        enqueue(store, 1)
        time.sleep(0.2)
        store.apply(change(1))
        assert store.lease().expires_in_s > 59.9

    def test_an_expired_lease_that_nobody_took_still_counts(self, store: Store) -> None:
        """D-34: the epoch decides, not the clock of a stalled holder."""
        store.acquire_lease("a", SHORT_S)
        time.sleep(2 * SHORT_S)
        enqueue(store, 1)
        store.renew_lease(60.0)
        assert store.lease().expires_in_s > 0

    @pytest.mark.parametrize("method", FENCED)
    def test_without_the_lease_nothing_is_written(self, store: Store, oracle: Oracle, method: str) -> None:
        """D-34: an instance that never had the lease is fenced."""
        before = everything(oracle)
        with pytest.raises(Fenced):
            FENCED[method](store)
        assert everything(oracle) == before

    @pytest.mark.parametrize("method", FENCED)
    def test_a_stale_leader_is_fenced(
        self, held: Store, another: Another, oracle: Oracle, method: str
    ) -> None:
        """R-105, D-34: after a takeover every fenced method of the old holder fails and writes nothing."""
        enqueue(held, 1, 2)
        held.close_unapplied(2, dead(), [], NOW)
        held.set_trying(1, True)
        other = another(held)
        other.acquire_lease("holder", 60.0)
        before = everything(oracle)
        with pytest.raises(Fenced) as caught:
            FENCED[method](held)
        assert caught.value.current == caught.value.epoch + 1
        assert everything(oracle) == before

    def test_an_alert_is_the_holders_or_of_who_only_starts(
        self, store: Store, another: Another, oracle: Oracle
    ) -> None:
        """D-34, D-04: before the lease it tells what kept us waiting; a stale leader tells nothing."""
        store.raise_alert(ALERT, NOW)
        store.acquire_lease("a", SHORT_S)
        store.raise_alert(ALERT, NOW)
        time.sleep(2 * SHORT_S)
        another(store).acquire_lease("b", 60.0)
        with pytest.raises(Fenced):
            store.raise_alert(ALERT, NOW)
        assert count(oracle, "OPS_ALERT") == 2

    def test_a_stale_leader_cannot_release_the_lease_of_the_next(self, held: Store, another: Another) -> None:
        """D-34: release only what is ours."""
        other = another(held)
        other.acquire_lease("holder", 60.0)
        held.release_lease()
        assert other.lease().holder == "holder"
        enqueue(other, 1)

    def test_after_releasing_an_instance_is_fenced(self, held: Store) -> None:
        """D-34: who has given the lease up writes no more."""
        held.release_lease()
        with pytest.raises(Fenced):
            enqueue(held, 1)

    def test_the_epoch_is_written_on_the_rows(self, held: Store, oracle: Oracle) -> None:
        """D-34: each row tells which epoch changed it."""
        epoch = held.lease().epoch
        enqueue(held, 1)
        held.apply(change(1, put(flight(7))))
        for table in ("PROC_STATE", "FLIGHT_SCHD", "MSG_EVENT"):
            assert count(oracle, table, f"EPOCH <> {epoch}") == 0
            assert count(oracle, table) > 0
