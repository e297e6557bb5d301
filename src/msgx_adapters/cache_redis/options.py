"""A `redis://`, `rediss://` or `unix://` URL as what redis-py's connections take; nothing is guessed."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from msgx_core.errors import ConfigError

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _flag(text: str) -> bool:
    return _FLAGS[text.lower()]


def _file(text: str) -> str:
    if not Path(text).exists():
        raise ValueError(f"there is no {text}")
    return text


def _requirement(text: str) -> str:
    if text not in ("none", "optional", "required"):
        raise ValueError("it is none, optional or required")
    return text


def _tls_version(text: str) -> ssl.TLSVersion:
    return ssl.TLSVersion[text.replace(".", "_")]


PLAIN: Mapping[str, Callable[[str], Any]] = {"db": int, "client_name": str}
TLS: Mapping[str, Callable[[str], Any]] = {
    "ssl_ca_certs": _file,
    "ssl_ca_path": _file,
    "ssl_certfile": _file,
    "ssl_keyfile": _file,
    "ssl_password": str,
    "ssl_cert_reqs": _requirement,
    "ssl_check_hostname": _flag,
    "ssl_min_version": _tls_version,
    "ssl_ciphers": str,
}


def options_of(url: str) -> tuple[str, dict[str, Any]]:
    """Scheme and arguments of the connection; `ConfigError` names each problem and no password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ConfigError(["the cache URL is no legal URL"]) from None
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise ConfigError([f"the cache URL begins with redis://, rediss:// or unix://, not {parts.scheme}:"])
    options, problems = _query(parts.query, parts.scheme)
    if parts.username:
        options["username"] = unquote(parts.username)
    if parts.password:
        options["password"] = unquote(parts.password)
    if parts.scheme == "unix":
        options["path"] = unquote(parts.path)
        if not parts.path:
            problems.append("the cache URL has no socket path: unix:///run/redis.sock")
    else:
        options |= {"host": parts.hostname or "localhost", "port": port or 6379}
        if re.fullmatch(r"/\d+", parts.path):
            options.setdefault("db", int(parts.path[1:]))
        elif parts.path not in ("", "/"):
            problems.append(f"the cache URL has {parts.path[1:]!r} where the number of a database belongs")
    if parts.fragment:
        problems.append("the cache URL has a #; write %23 in a password")
    if problems:
        raise ConfigError(problems)
    return parts.scheme, options


def account_of(options: Mapping[str, Any]) -> str:
    """Who comes in with these arguments, and where; without the password."""
    place = options["path"] if "path" in options else f"{options['host']}:{options['port']}"
    user = f"as {options['username']} on " if "username" in options else "on "
    return f"{user}{place}/{options.get('db', 0)}"


def _query(query: str, scheme: str) -> tuple[dict[str, Any], list[str]]:
    known = {**PLAIN, **TLS} if scheme == "rediss" else PLAIN
    options: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in parse_qsl(query.replace("+", "%2B"), keep_blank_values=True):
        if name not in known:
            why = "is for rediss:// only" if name in TLS else f"is not one of {', '.join(sorted(known))}"
            problems.append(f"the option {name} of the cache URL {why}")
            continue
        try:
            options[name] = known[name](value)
        except (KeyError, ValueError) as error:
            detail = f": {error}" if isinstance(error, ValueError) and known[name] is not int else ""
            problems.append(f"the option {name} of the cache URL cannot be {value!r}{detail}")
    return options, problems
