"""A `kafka://` URL as librdkafka's configuration: options are passed on, promises are not for sale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import frozen

from msgx_core.errors import ConfigError

OURS = frozenset(
    """
    bootstrap.servers metadata.broker.list enable.idempotence enable.gapless.guarantee acks
    request.required.acks message.timeout.ms delivery.timeout.ms message.max.bytes transactional.id
    queuing.strategy plugin.library.paths default.topic.config on_delivery logger
    test.mock.num.brokers test.mock.broker.rtt
    """.split()
)
"""What order, at-least-once and bounded time rest on, and what is for programs only."""

_SECRET = ("password", "secret", "key.pem", "token", "jaas", "oauthbearer.config")
_HEADROOM = 4_096  # key, headers and framing of a record
_LARGEST = 1_000_000_000


@frozen
class Options:
    """`values` for librdkafka; `servers` to be named in messages."""

    servers: str
    values: Mapping[str, Any]

    def hide(self, text: str) -> str:
        """`text` without the value of any secret option."""
        for name, value in self.values.items():
            if any(word in name for word in _SECRET) and value:
                text = text.replace(str(value), "***")
        return text

    def named(self, text: str, trouble: str | None) -> str:
        """`text` with the servers and their last trouble, without secrets."""
        more = f"; {trouble}" if trouble and trouble not in text else ""
        return self.hide(f"{self.servers}: {text}{more}")


def options_of(url: str, *, max_bytes: int, timeout_s: float) -> Options:
    """Defaults, then the URL's options, then what is ours; `ConfigError` names each problem."""
    servers, given = _split(url)
    message_ms = message_timeout_ms(timeout_s)
    defaults = {
        "client.id": "msgx",
        # The call waits anyway; a batch is in the queue before the client's thread has sent its first.
        "linger.ms": 0,
        # The partition that Kafka's own (Java) clients would choose for a key.
        "partitioner": "murmur2_random",
        "reconnect.backoff.max.ms": 1_000,
        "socket.timeout.ms": max(1_000, int(timeout_s * 1_000)),
        "socket.connection.setup.timeout.ms": max(1_000, int(timeout_s * 1_000)),
        "request.timeout.ms": message_ms,
        "topic.metadata.propagation.max.ms": message_ms // 2,
        # A topic that was not for us, or not there, is refused from memory until this.
        "topic.metadata.refresh.interval.ms": 10_000,
        # Errors come to us and from us to the log; 6 with `debug=…` shows the client's own.
        "log_level": 0,
    }
    ours = {
        "bootstrap.servers": servers,
        "enable.idempotence": True,
        "acks": "all",
        "message.timeout.ms": message_ms,
        "message.max.bytes": min(max(max_bytes, 1_000) + _HEADROOM, _LARGEST),
    }
    return Options(servers, {**defaults, **given, **ours})


def message_timeout_ms(timeout_s: float) -> int:
    """How long librdkafka tries: so much less than the call that its reports come before the call ends.

    Not too little: a new producer needs up to a second before it sends (it asks for its id every 500 ms).
    """
    return int(max(timeout_s * 0.75, timeout_s - 2) * 1_000)


def _split(url: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    problems: list[str] = []
    if parts.scheme != "kafka":
        problems.append(f"the bus URL begins with kafka://, not {parts.scheme}:")
    if "@" in parts.netloc:
        problems.append("the bus URL has a user before the host; write ?sasl.username=…&sasl.password=…")
    elif not all(parts.netloc.split(",")):
        problems.append("the bus URL has no host, or an empty one: kafka://HOST:9092,HOST:9092")
    if parts.path.strip("/") or parts.fragment:
        problems.append("the bus URL has only hosts and ?option=value&…; write %23 for # and %2F for /")
    given: dict[str, str] = {}
    for pair in filter(None, parts.query.split("&")):
        name, equals, value = pair.partition("=")
        name = unquote(name)
        if not equals:
            problems.append(f"the option {name} of the bus URL has no =")
        elif name in OURS or name.endswith("_cb"):
            problems.append(f"the option {name} of the bus URL is not for you to set")
        elif name in given:
            problems.append(f"the option {name} of the bus URL is there twice")
        given[name] = unquote(value)
    if problems:
        raise ConfigError(problems)
    return parts.netloc, given
