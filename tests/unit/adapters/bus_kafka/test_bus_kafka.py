"""What is particular to the bus on Kafka, without a broker: its URL, and what errors mean."""

import time

import pytest
from confluent_kafka import KafkaError

from msgx_adapters.bus_kafka import KafkaBus
from msgx_adapters.bus_kafka.errors import REFUSES_ALL, fate_of
from msgx_adapters.bus_kafka.options import options_of
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery

NOWHERE = "kafka://127.0.0.1:1"


def test_a_url_becomes_a_configuration() -> None:
    """Issue 3: security options passed through."""
    url = "kafka://a:9092,[::1]:9093?security.protocol=SASL_SSL&sasl.username=me&sasl.password=p%26+w%3D&linger.ms=9"
    values = options_of(url, max_bytes=2_000_000, timeout_s=10).values
    assert values["bootstrap.servers"] == "a:9092,[::1]:9093"
    assert (values["enable.idempotence"], values["acks"]) == (True, "all")
    assert values["message.timeout.ms"] == 8_000
    assert values["message.max.bytes"] > 2_000_000
    assert (values["security.protocol"], values["sasl.username"]) == ("SASL_SSL", "me")
    assert (values["sasl.password"], values["linger.ms"]) == ("p&+w=", "9")


@pytest.mark.parametrize("timeout_s", [0.5, 2, 10, 60])
def test_the_client_gives_up_before_the_call_does(timeout_s: float) -> None:
    values = options_of(NOWHERE, max_bytes=1, timeout_s=timeout_s).values
    assert values["message.timeout.ms"] < timeout_s * 1_000


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("redis://h", "begins with kafka://"),
        ("kafka://", "no host"),
        ("kafka://a,,b", "no host"),
        ("kafka://me:geheim@a", "sasl.username"),
        ("kafka://a/topic", "only hosts"),
        ("kafka://a?acks=1", "option acks of the bus URL is not for you to set"),
        ("kafka://a?enable.idempotence=false", "not for you"),
        ("kafka://a?error_cb=x", "not for you"),
        ("kafka://a?linger.ms=1&linger.ms=2", "twice"),
        ("kafka://a?linger.ms", "has no ="),
        ("kafka://a?colour=red", 'No such configuration property: "colour"'),
        ("kafka://a?linger.ms=99999", "message.timeout.ms"),
        ("kafka://a?sasl.password=geheim&security.protocol=geheim", r'Invalid value "\*\*\*"'),
    ],
)
def test_what_is_wrong_with_a_url_is_said(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        KafkaBus.open(url, max_bytes=1_000, timeout_s=2)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(REFUSES_ALL))
def test_the_names_are_kafkas(name: str) -> None:
    assert KafkaError(getattr(KafkaError, name)).name() == name


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, "too-large"),
        (KafkaError.RECORD_LIST_TOO_LARGE, "too-large"),
        (KafkaError.INVALID_RECORD, "refused:INVALID_RECORD"),
        (KafkaError.INVALID_MSG, "refused:INVALID_MSG"),
        (KafkaError.POLICY_VIOLATION, "refused:POLICY_VIOLATION"),
        (KafkaError.UNKNOWN, "refused:UNKNOWN"),
        (KafkaError._INVALID_DIFFERENT_RECORD, "refused:_INVALID_DIFFERENT_RECORD"),
        (KafkaError._MSG_TIMED_OUT, None),
        (KafkaError._PURGE_INFLIGHT, None),
        (KafkaError._UNKNOWN_TOPIC, None),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, None),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, None),
        (KafkaError.NOT_ENOUGH_REPLICAS, None),
        (KafkaError._FATAL, None),
    ],
)
def test_what_errors_mean(code: int, refusal: str | None) -> None:
    """D-04, D-26: about this record, or about all."""
    fate = fate_of(KafkaError(code))
    assert fate.refusal == refusal
    assert (fate.outage is None) == (refusal is not None)


def test_opening_and_closing_need_no_broker() -> None:
    """Issue 3: a start while the brokers are down waits; an end does not."""
    start = time.monotonic()
    bus = KafkaBus.open(NOWHERE, max_bytes=1_000, timeout_s=2, topics=["msg"])
    assert bus.publish([BusRecord("msg", "1", b"x" * 1_001)]) == [Delivery("too-large")]
    bus.close()
    assert time.monotonic() - start < 1
    for call in (lambda: bus.publish([BusRecord("msg", "1", b"1")]), bus.ping, bus.check_topics):
        with pytest.raises(Transient, match="closed"):
            call()


def test_an_outage_says_where_and_why_without_secrets() -> None:
    """D-04: `status` names the culprit."""
    url = f"{NOWHERE}?sasl.username=me&sasl.password=refused"
    bus = KafkaBus.open(url, max_bytes=1_000, timeout_s=1, topics=["msg"])
    start = time.monotonic()
    with pytest.raises(Transient, match=r"127\.0\.0\.1:1: topic msg: 1 of 1 records not confirmed") as caught:
        bus.publish([BusRecord("msg", "1", b"1")])
    assert time.monotonic() - start < 1.5
    assert "Connection" in str(caught.value) or "brokers are down" in str(caught.value)
    assert "refused" not in str(caught.value)
    with pytest.raises(Transient, match=r"127\.0\.0\.1:1"):
        bus.check_topics()
    bus.close()
