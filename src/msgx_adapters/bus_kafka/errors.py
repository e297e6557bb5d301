"""What Kafka's errors mean: the bus does not work, or it refuses this one record (D-04, D-26, D-28).

An error about the topic or our account (unknown, not authorised) refuses every record of the topic, whatever
is in it. So it is an outage that names its cause: nothing is counted, no event goes dead, and all go out in
their order once it is put right. An error about the record is that record's refusal. A code that we do not
know is one too: it may be about the record, and a poison record must not stop the others for ever.
"""

from __future__ import annotations

from attrs import frozen
from confluent_kafka import KafkaError

TOO_LARGE = "too-large"

_TOO_LARGE = frozenset({"MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"})
# Of the client's own errors (names with _) these are about a record.
_LOCAL_REFUSALS = frozenset({"_BAD_MSG", "_BAD_COMPRESSION", "_INVALID_ARG", "_INVALID_DIFFERENT_RECORD"})
_BROKER = """
    BROKER_NOT_AVAILABLE LEADER_NOT_AVAILABLE NOT_LEADER_FOR_PARTITION REPLICA_NOT_AVAILABLE
    NOT_CONTROLLER NETWORK_EXCEPTION REQUEST_TIMED_OUT NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND
    KAFKA_STORAGE_ERROR LOG_DIR_NOT_FOUND FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH STALE_BROKER_EPOCH
    STALE_CTRL_EPOCH OFFSET_NOT_AVAILABLE REASSIGNMENT_IN_PROGRESS ELIGIBLE_LEADERS_NOT_AVAILABLE
    THROTTLING_QUOTA_EXCEEDED COORDINATOR_NOT_AVAILABLE COORDINATOR_LOAD_IN_PROGRESS
    NOT_COORDINATOR REBOOTSTRAP_REQUIRED
"""
_TOPIC = """
    UNKNOWN_TOPIC_OR_PART UNKNOWN_TOPIC_ID INCONSISTENT_TOPIC_ID TOPIC_EXCEPTION INVALID_REQUIRED_ACKS
    UNSUPPORTED_FOR_MESSAGE_FORMAT UNSUPPORTED_COMPRESSION_TYPE UNSUPPORTED_VERSION
"""
_ACCOUNT = """
    TOPIC_AUTHORIZATION_FAILED CLUSTER_AUTHORIZATION_FAILED TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    DELEGATION_TOKEN_AUTHORIZATION_FAILED DELEGATION_TOKEN_EXPIRED SASL_AUTHENTICATION_FAILED
    SECURITY_DISABLED UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE
"""
_PRODUCER = """
    OUT_OF_ORDER_SEQUENCE_NUMBER INVALID_PRODUCER_EPOCH INVALID_PRODUCER_ID_MAPPING UNKNOWN_PRODUCER_ID
    PRODUCER_FENCED CONCURRENT_TRANSACTIONS INVALID_TXN_STATE
"""
PRODUCER_IS_OVER = frozenset(_PRODUCER.split())
"""The broker has answered that it takes nothing more from this producer id or epoch."""

REFUSES_ALL = frozenset((_BROKER + _TOPIC + _ACCOUNT + _PRODUCER).split())
"""Broker codes that are about the cluster, the topic, our account or our producer."""


@frozen
class Fate:
    """What became of a record: `outage` when not known or not its fault, else `refusal`, else sent."""

    refusal: str | None = None
    outage: str | None = None


SENT = Fate()


def fate_of(error: KafkaError | None) -> Fate:
    """The meaning of a delivery report."""
    if error is None:
        return SENT
    name = error.name()
    if name in _TOO_LARGE:
        return Fate(refusal=TOO_LARGE)
    outage = name not in _LOCAL_REFUSALS if name.startswith("_") else name in REFUSES_ALL
    if outage or error.fatal():
        return Fate(outage=f"{name} ({error.str()})")
    return Fate(refusal=f"refused:{name}")


def text_of(error: Exception) -> str:
    """The words of an error of the client."""
    first = error.args[0] if error.args else None
    return first.str().strip() if isinstance(first, KafkaError) else str(error)
