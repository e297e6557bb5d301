"""Asks the brokers about topics, and makes none by asking."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException

from msgx_core.errors import ConfigError, Transient

from .errors import text_of
from .options import Options


class Inquiry:
    """A consumer that consumes nothing: a cluster that makes topics by itself does so when a producer, or an
    administrator's client, names one that is not there.

    It joins no group, so the account needs `Describe` on the topics and no more.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._trouble: str | None = None
        ours = {"group.id": "msgx", "allow.auto.create.topics": False, "error_cb": self._on_error}
        try:
            self._consumer = Consumer({**options.values, **ours})
        except (KafkaException, TypeError, ValueError) as error:
            raise ConfigError([f"the bus URL: {options.hide(text_of(error))}"]) from error

    def topic_error(self, topic: str | None, timeout_s: float) -> str | None:
        """The name of what is wrong with a topic; None when it can be used. Raises `Transient`."""
        try:
            found: Any = self._consumer.list_topics(topic, timeout=timeout_s)
        except (KafkaException, RuntimeError) as error:
            self._listen()
            raise Transient("bus", self._options.named(text_of(error), self._trouble)) from error
        if topic is None:
            return None
        metadata = found.topics.get(topic)
        if metadata is None:
            return "UNKNOWN_TOPIC_OR_PART"
        return None if metadata.error is None else str(metadata.error.name())

    def close(self) -> None:
        """End; at once."""
        with suppress(KafkaException, RuntimeError):  # it is closed
            self._consumer.close()

    def _listen(self) -> None:
        """Be told of errors that came meanwhile: only polling does that."""
        with suppress(KafkaException, RuntimeError):
            self._consumer.poll(0)

    def _on_error(self, error: KafkaError) -> None:
        self._trouble = error.str()
