"""One idempotent producer: sends a batch and waits for what becomes of each record."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from msgx_core.errors import ConfigError
from msgx_core.ports.bus import BusRecord

from .errors import PRODUCER_IS_OVER, Fate, fate_of, text_of
from .options import Options

_SLICE_S = 0.1


class Courier:
    """One caller at a time sends. It is kept through outages, and that keeps the order.

    A batch that is given up may have reached a broker that was only slow. When the producer sends again, it
    does so with the next epoch of its producer id: the broker then refuses what is left of the old epoch
    (KIP-360), so nothing old can arrive behind something new. A new producer could not do that, so there is
    a new one only after a fatal error, which a broker that answers has caused.
    """

    def __init__(self, options: Options) -> None:
        self.trouble: str | None = None
        self.fatal = False
        self._options = options
        try:
            self._producer = Producer({**options.values, "error_cb": self._on_error})
        except (KafkaException, TypeError, ValueError) as error:
            raise ConfigError([f"the bus URL: {options.hide(text_of(error))}"]) from error

    def send(self, records: Sequence[BusRecord], deadline: float) -> list[Fate]:
        """What became of each record, known by `deadline` (of `time.monotonic`)."""
        self.trouble = None
        fates: list[Fate | None] = [None] * len(records)
        try:
            for index, record in enumerate(records):
                fates[index] = self._hand_over(record, self._taker(fates, index), deadline)
            while None in fates and (left := deadline - time.monotonic()) > 0:
                self._poll(min(left, _SLICE_S))
        finally:
            if None in fates:
                self._give_up(fates)
        return [fate or Fate(outage="no report") for fate in fates]

    def is_answered(self, timeout_s: float) -> bool:
        """Whether a broker answers now."""
        try:
            self._producer.list_topics(timeout=timeout_s)
        except (KafkaException, RuntimeError):
            return False
        return True

    def listen(self) -> None:
        """Take note of errors that came while nothing was sent."""
        self._poll(0)

    def describe(self, text: str) -> str:
        """`text` with the servers and their last trouble, without secrets."""
        return self._options.named(text, self.trouble)

    def close(self) -> None:
        """Forget what is not sent and end; at once."""
        try:
            self._producer.purge()
            self._poll(0)
            self._producer.close()
        except (KafkaException, RuntimeError):  # it is closed
            pass

    def _hand_over(self, record: BusRecord, report: Callable[..., None], deadline: float) -> Fate | None:
        """Into the queue, waiting for room; a fate when the record does not get that far."""
        while True:
            try:
                self._producer.produce(record.topic, record.value, record.key, on_delivery=report)
            except BufferError:
                if (left := deadline - time.monotonic()) <= 0:
                    return Fate(outage="the queue is full")
                self._poll(min(left, _SLICE_S))
            except KafkaException as error:
                self._note(error.args[0])
                return fate_of(error.args[0])
            else:
                return None

    def _taker(self, fates: list[Fate | None], index: int) -> Callable[[KafkaError | None, Message], None]:
        def take(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                self._note(error)
            fates[index] = fate_of(error)

        return take

    def _give_up(self, fates: list[Fate | None]) -> None:
        """Purge: what is left is reported at once, and nothing of it is sent later."""
        self._producer.purge()
        for _ in range(50):
            self._poll(_SLICE_S / 10)
            if None not in fates:
                return

    def _poll(self, timeout_s: float) -> None:
        """Serve reports and errors. Python's client raises a fatal error here instead of reporting it."""
        try:
            self._producer.poll(timeout_s)
        except KafkaException as error:
            self._on_error(error.args[0])

    def _on_error(self, error: KafkaError) -> None:
        if not self.fatal:
            self.trouble = error.str()
        self._note(error)

    def _note(self, error: KafkaError) -> None:
        # Not all of these are fatal to the client: it would ask with the same epoch for ever.
        if error.fatal() or error.code() == KafkaError._FATAL or error.name() in PRODUCER_IS_OVER:
            self.fatal = True
