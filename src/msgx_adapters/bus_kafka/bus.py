"""The event bus on Kafka (IMP §8, D-28, D-29)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery

from .courier import Courier
from .errors import SENT, TOO_LARGE, Fate
from .inquiry import Inquiry
from .options import Options, options_of

_PAUSE_S = 0.2
_NEWS_S = 1.0
_PATIENCE = 3
_ANSWER_S = 1.0


class KafkaBus:
    """Implements `Bus`. Thread-safe; one batch at a time.

    Idempotent, `acks=all`. A confirmed record is on all in-sync replicas. Records with one key go to the
    partition that Kafka's Java clients choose. What a batch's fate was is for `errors.py` to say.
    """

    def __init__(self, options: Options, max_bytes: int, timeout_s: float, topics: Sequence[str]) -> None:
        self.max_bytes = max_bytes
        self._options = options
        self._timeout_s = timeout_s
        self._topics = tuple(topics)
        self._turn = threading.Lock()
        self._closed = False
        self._courier = Courier(options)
        self._unconfirmed = 0
        self._asking = threading.Lock()
        self._inquiry: Inquiry | None = None

    @classmethod
    def open(
        cls, url: str, *, max_bytes: int, timeout_s: float = 10.0, topics: Iterable[str] = ()
    ) -> KafkaBus:
        """A bus at `kafka://HOST:PORT,HOST:PORT?option=value&…`; connects in the background.

        The options are librdkafka's (`security.protocol`, `sasl.…`, `ssl.…`, `compression.type`, …), but
        for those that our promises rest on. `topics` are those that `check_topics` asks for. Raises
        `ConfigError`.
        """
        options = options_of(url, max_bytes=max_bytes, timeout_s=timeout_s)
        return cls(options, max_bytes, timeout_s, tuple(topics))

    def publish(self, records: Sequence[BusRecord]) -> Sequence[Delivery]:
        """Send all and wait; results in their order. Refusals: `too-large`, `refused:<Kafka's name>`.

        `Transient` when the fate of any record is an outage: all may be sent again, and nothing of this batch
        is sent later by itself.
        """
        fits = [record for record in records if len(record.value) <= self.max_bytes]
        fates: Iterator[Fate] = iter(())
        if fits:
            deadline = time.monotonic() + self._timeout_s
            with self._courier_until(deadline) as courier:
                fates = iter(self._sent(courier, fits, deadline))
        return [
            Delivery(next(fates).refusal if len(record.value) <= self.max_bytes else TOO_LARGE)
            for record in records
        ]

    def check_topics(self) -> None:
        """Return when all topics can be used.

        `ConfigError` names those that do not exist or are not for us, `Transient` the brokers that do not
        answer. None is made by that, also where the cluster makes topics by itself: with partitions and
        replicas that nobody chose.
        """
        deadline = time.monotonic() + self._timeout_s
        problems = [problem for topic in self._topics if (problem := self._problem(topic, deadline))]
        if problems:
            raise ConfigError(problems)

    def ping(self) -> None:
        """Return when a broker answers, else raise `Transient`."""
        if self._closed:
            raise Transient("bus", "closed")
        if self._turn.acquire(blocking=False):
            try:
                self._courier.listen()
            finally:
                self._turn.release()
        self._ask(self._topics[0] if self._topics else None, self._timeout_s)

    def close(self) -> None:
        """End the producer. Nothing is waited for: what is confirmed is confirmed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        mine = self._turn.acquire(timeout=self._timeout_s)
        self._courier.close()
        if mine:
            self._turn.release()
        with self._asking:
            if self._inquiry is not None:
                self._inquiry.close()

    @contextmanager
    def _courier_until(self, deadline: float) -> Iterator[Courier]:
        """Our turn with the producer; with a new one after a fatal error."""
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise Transient("bus", "another batch waits for the brokers")
        try:
            if self._closed:
                raise Transient("bus", "closed")
            yield self._courier
        except RuntimeError as error:
            if not self._closed:
                raise
            raise Transient("bus", "closed") from error
        finally:
            if self._courier.fatal and not self._closed:
                self._courier.close()
                self._courier = Courier(self._options)
            self._turn.release()

    def _sent(self, courier: Courier, records: Sequence[BusRecord], deadline: float) -> list[Fate]:
        """Send; a producer that gets nothing through to brokers that answer is replaced.

        That happens to one whose brokers have forgotten it: it would ask for its old id for ever.
        """
        try:
            fates = _sent(courier, records, deadline)
        except Transient:
            self._unconfirmed += 1
            if self._unconfirmed >= _PATIENCE and courier.is_answered(_ANSWER_S):
                courier.fatal = True
                self._unconfirmed = 0
            raise
        self._unconfirmed = 0
        return fates

    def _problem(self, topic: str, deadline: float) -> str | None:
        began = time.monotonic()
        while True:
            error = self._ask(topic, max(0.1, deadline - time.monotonic()))
            if error is None:
                return None
            if error == "TOPIC_AUTHORIZATION_FAILED":
                where = f"{topic} on {self._options.servers}"
                return f"the topic {where} is not for this account: grant it Write and Describe ({error})"
            if error == "UNKNOWN_TOPIC_OR_PART":
                # One that has just been made is not known to every broker at once.
                deadline = min(deadline, began + _NEWS_S)
            if time.monotonic() + _PAUSE_S > deadline:
                return f"the topic {topic} on {self._options.servers} cannot be used: make it first ({error})"
            time.sleep(_PAUSE_S)

    def _ask(self, topic: str | None, timeout_s: float) -> str | None:
        with self._asking:
            if self._closed:
                raise Transient("bus", "closed")
            if self._inquiry is None:
                self._inquiry = Inquiry(self._options)
        return self._inquiry.topic_error(topic, timeout_s)


def _sent(courier: Courier, records: Sequence[BusRecord], deadline: float) -> list[Fate]:
    """Fates that are no outage.

    Records travel in batches and are refused in batches: who is refused in company is tried alone, so that
    one record's fault stays with it (D-26), but not behind a later record of its key.
    """
    fates = courier.send(records, deadline)
    _raise_outage(courier, records, fates)
    half = time.monotonic() + (deadline - time.monotonic()) / 2
    delivered: set[tuple[str, str]] = set()
    alone: list[int] = []
    for index in reversed(range(len(records))):
        key = records[index].key
        if fates[index] is SENT and key is not None:
            delivered.add((records[index].topic, key))
        elif fates[index] is not SENT and (key is None or (records[index].topic, key) not in delivered):
            alone.append(index)
    for index in reversed(alone if len(records) > 1 else []):
        if time.monotonic() > half:
            break
        fates[index] = courier.send([records[index]], deadline)[0]
        _raise_outage(courier, [records[index]], [fates[index]])
    return fates


def _raise_outage(courier: Courier, records: Sequence[BusRecord], fates: Sequence[Fate]) -> None:
    for record, fate in zip(records, fates, strict=True):
        if fate.outage is not None:
            lost = sum(each.outage is not None for each in fates)
            courier.listen()
            text = f"topic {record.topic}: {lost} of {len(fates)} records not confirmed: {fate.outage}"
            raise Transient("bus", courier.describe(text))
