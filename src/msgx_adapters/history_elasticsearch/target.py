"""What a URL says about the cluster and the index."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from attrs import frozen

from msgx_core.errors import ConfigError

DEFAULT_INDEX = "msgx-flights"
_INDEX = re.compile(r"(?![-_+.])[a-z0-9][a-z0-9._+-]{0,199}")
_KNOWN = frozenset({"tls", "ca"})


@frozen
class Target:
    """Nodes, index and who we are. `ca` is a file of certificates that may sign the cluster's."""

    nodes: tuple[str, ...]
    index: str
    user: str | None = None
    password: str | None = None
    ca: str | None = None

    @classmethod
    def of(cls, url: str) -> Target:
        """Of `elasticsearch://USER:PASSWORD@HOST:9200,HOST:9200/INDEX?tls=true&ca=FILE`; else `ConfigError`.

        >>> Target.of("elasticsearch://a:9201,b/flights").nodes
        ('http://a:9201', 'http://b:9200')
        """
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True)
        strange = sorted(options.keys() - _KNOWN)
        if strange:
            raise _refuse(f"it does not know {', '.join(strange)}; it knows tls and ca")
        tls = _flag(options.get("tls", ["true" if "ca" in options else "false"])[-1])
        credentials, _, hosts = parts.netloc.rpartition("@")
        user, colon, password = credentials.partition(":")
        index = parts.path.strip("/") or DEFAULT_INDEX
        if _INDEX.fullmatch(index) is None:
            raise _refuse("an index has small letters, digits and . _ + - and does not begin with those")
        return cls(
            nodes=tuple(_node(host, tls) for host in hosts.split(",")),
            index=index,
            user=unquote(user) or None,
            password=unquote(password) if colon else None,
            ca=options["ca"][-1] if "ca" in options else None,
        )


def _node(host: str, tls: bool) -> str:
    has_port = re.search(r":\d+$", host) is not None
    return f"{'https' if tls else 'http'}://{host if has_port else f'{host}:9200'}"


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise _refuse("tls is true or false")
    return text == "true"


def _refuse(why: str) -> ConfigError:
    return ConfigError([f"msgx.history.url: {why}"])
