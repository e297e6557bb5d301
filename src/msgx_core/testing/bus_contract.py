"""What every event bus does (IMP §8, D-28, D-29).

class TestMyBus(BusContract):
    @pytest.fixture
    def broker(self): ...
    @pytest.fixture
    def bus(self, broker): ...
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msgx_core.errors import Transient
from msgx_core.ports.bus import Bus, BusRecord
from msgx_core.testing.contract import Contract


class BusHarness(Protocol):
    """The broker seen by other means than the adapter."""

    def topic(self) -> str:
        """The name of a topic that is new and can be published to."""
        ...

    def records(self, topic: str) -> Sequence[tuple[str | None, Any]]:
        """Key and parsed value of all records; those with one key in the broker's order."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """While inside, the broker does not answer."""
        ...


def record(topic: str, key: str | None, value: object) -> BusRecord:
    """A record with a value in compact UTF-8 JSON."""
    return BusRecord(topic, key, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def sized(topic: str, key: str, n_bytes: int) -> BusRecord:
    """A record whose value has exactly that many bytes."""
    return BusRecord(topic, key, b'"' + b"x" * (n_bytes - 2) + b'"')


def by_key(records: Sequence[tuple[str | None, Any]]) -> dict[str | None, list[Any]]:
    """Values of each key in their order; without a key there is no order, so sorted."""
    values: dict[str | None, list[Any]] = {}
    for key, value in records:
        values.setdefault(key, []).append(value)
    if None in values:
        values[None].sort(key=repr)
    return values


class BusContract(Contract):
    """Cases for a `Bus`."""

    @pytest.fixture
    def broker(self) -> BusHarness:
        """The broker of this test."""
        raise NotImplementedError

    @pytest.fixture
    def bus(self, broker: BusHarness) -> Bus:
        """The adapter under test, on that broker."""
        raise NotImplementedError

    def test_what_is_confirmed_is_there(self, bus: Bus, broker: BusHarness) -> None:
        """R-354, D-30: key and value as they were given, Chinese and large numbers too."""
        topic = broker.topic()
        value = {"FLID": 999_999_999_999, "FLNO": "CA101", "APNM": "北京\n首都", "EMPTY": ""}
        assert [d.ok for d in bus.publish([record(topic, "999999999999", value)])] == [True]
        assert list(broker.records(topic)) == [("999999999999", value)]

    def test_an_empty_batch_is_fine(self, bus: Bus) -> None:
        """D-28."""
        assert list(bus.publish([])) == []

    def test_records_of_a_key_keep_their_order(self, bus: Bus, broker: BusHarness) -> None:
        """R-350, D-28: within a batch and from batch to batch."""
        topic = broker.topic()
        for batch in range(5):
            sent = [record(topic, str(n % 3), [batch, n]) for n in range(30)]
            assert all(d.ok for d in bus.publish(sent))
        assert by_key(broker.records(topic)) == {
            str(key): [[batch, n] for batch in range(5) for n in range(key, 30, 3)] for key in range(3)
        }

    def test_a_record_needs_no_key(self, bus: Bus, broker: BusHarness) -> None:
        """D-29: a `schd` batch of several flights has none."""
        topic = broker.topic()
        assert all(d.ok for d in bus.publish([record(topic, None, 1), record(topic, None, 2)]))
        assert by_key(broker.records(topic)) == {None: [1, 2]}

    def test_topics_do_not_mix(self, bus: Bus, broker: BusHarness) -> None:
        """IMP §8: `msg` and `schd` may travel in one call."""
        msg, schd = broker.topic(), broker.topic()
        bus.publish([record(msg, "1", "a"), record(schd, "1", "b"), record(msg, "1", "c")])
        assert by_key(broker.records(msg)) == {"1": ["a", "c"]}
        assert by_key(broker.records(schd)) == {"1": ["b"]}

    def test_a_refusal_harms_no_other_record(self, bus: Bus, broker: BusHarness) -> None:
        """D-28, D-29: results in the order of the records, the refusal where it belongs, the others there."""
        topic = broker.topic()
        sent = [record(topic, "1", "a"), sized(topic, "1", bus.max_bytes + 1), record(topic, "1", "b")]
        results = bus.publish(sent)
        assert [d.ok for d in results] == [True, False, True]
        assert results[1].code == "too-large"
        assert by_key(broker.records(topic)) == {"1": ["a", "b"]}

    def test_the_largest_value_is_taken(self, bus: Bus, broker: BusHarness) -> None:
        """D-29: batches are made up to `max_bytes`, so exactly that must pass."""
        topic = broker.topic()
        assert [d.ok for d in bus.publish([sized(topic, "1", bus.max_bytes)])] == [True]
        assert [len(value) for _, value in broker.records(topic)] == [bus.max_bytes - 2]

    def test_any_batches_with_any_refusals(self, bus: Bus, broker: BusHarness) -> None:
        """D-28: what is confirmed is there in the order of its key, what is refused is not."""
        batch_of = st.lists(st.tuples(st.sampled_from(["1", "2"]), st.booleans()), max_size=6)

        @settings(deadline=None, max_examples=20)
        @given(st.lists(batch_of, max_size=4))
        def publish(batches: list[list[tuple[str, bool]]]) -> None:
            topic = broker.topic()
            expected: dict[str | None, list[int]] = {}
            number = itertools.count()
            for batch in batches:
                sent = []
                for (key, fits), n in zip(batch, number, strict=False):
                    sent.append(record(topic, key, n) if fits else sized(topic, key, bus.max_bytes + 1))
                    if fits:
                        expected.setdefault(key, []).append(n)
                assert [d.ok for d in bus.publish(sent)] == [fits for _, fits in batch]
            assert by_key(broker.records(topic)) == expected

        publish()

    def test_threads_do_not_disturb_one_another(self, bus: Bus, broker: BusHarness) -> None:
        """D-28: both relays publish at the same time."""
        topic = broker.topic()

        def relay(key: str) -> None:
            for n in range(20):
                bus.publish([record(topic, key, [n, part]) for part in range(2)])

        threads = [threading.Thread(target=relay, args=(str(key),)) for key in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        order = [[n, part] for n in range(20) for part in range(2)]
        assert by_key(broker.records(topic)) == {str(key): order for key in range(4)}

    def test_an_outage_is_told_apart_and_passes(self, bus: Bus, broker: BusHarness) -> None:
        """D-04, R-355: nothing is known about the batch, all of it may be sent again."""
        topic = broker.topic()
        sent = [record(topic, "1", n) for n in range(3)]
        with broker.outage():
            for call in (lambda: bus.publish(sent), bus.ping):
                with pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "bus"
        bus.ping()
        assert all(d.ok for d in bus.publish(sent))
        assert by_key(broker.records(topic))["1"][-3:] == [0, 1, 2]

    def test_closing_twice_is_fine(self, bus: Bus) -> None:
        """Whoever owns it may close it again."""
        bus.ping()
        bus.close()
        bus.close()
