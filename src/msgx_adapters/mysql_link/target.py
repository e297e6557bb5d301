"""`mysql://user:password@host:port/database?option=value` as arguments of the driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from msgx_core.errors import ConfigError

_SETTING = "msgx.mailbox.url"
_CHARSET = "utf8mb4"
# The default of the driver for new servers does not exist in MariaDB; every server has this one.
_COLLATION = "utf8mb4_general_ci"
_TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
_FLAGS = {
    "true": True,
    "1": True,
    "on": True,
    "yes": True,
    "false": False,
    "0": False,
    "off": False,
    "no": False,
}


def _flag(text: str) -> bool:
    try:
        return _FLAGS[text.lower()]
    except KeyError:
        raise ValueError("is true or false") from None


def _file(text: str) -> str:
    if not Path(text).is_file():
        raise ValueError(f"names no file: {text}")
    return text


def _charset(text: str) -> str:
    if text.lower() != _CHARSET:
        # In any other one the server replaces what it does not have by question marks, without a word.
        raise ValueError(
            f"is {_CHARSET}: that of the connection; the tables may have any, the server converts"
        )
    return _CHARSET


def _versions(text: str) -> list[str]:
    versions = [version.strip() for version in text.split(",")]
    if not set(versions) <= set(_TLS_VERSIONS):
        raise ValueError(f"is a list of {', '.join(_TLS_VERSIONS)}")
    return versions


_OPTIONS: Mapping[str, Callable[[str], Any]] = {
    "charset": _charset,
    "ssl_ca": _file,
    "ssl_cert": _file,
    "ssl_key": _file,
    "ssl_verify_cert": _flag,
    "ssl_verify_identity": _flag,
    "ssl_disabled": _flag,
    "tls_versions": _versions,
    "auth_plugin": str,
    "unix_socket": str,
}


@frozen
class Target:
    """Where the mailbox is. `arguments` hold the password: they are never shown.

    A CA (`ssl_ca`) or `ssl_verify_identity` implies `ssl_verify_cert`, so that a server without TLS, or with
    somebody else's certificate, is refused instead of being talked to in the clear.
    """

    name: str
    arguments: Mapping[str, Any] = field(repr=False)

    @property
    def account(self) -> str:
        """Who comes in, and where; without the password."""
        user = self.arguments["user"]
        return f"as {user} on {self.name}" if user else f"on {self.name}"

    @classmethod
    def of(cls, url: str) -> Target:
        """Parse a URL, its parts percent-decoded; `ConfigError` with all that is wrong."""
        try:
            parts = urlsplit(url)
            port = parts.port or 3306
        except ValueError:  # its message may hold the password
            raise ConfigError([f"{_SETTING} is no legal URL"]) from None
        database = unquote(parts.path.removeprefix("/"))
        problems = []
        if parts.scheme != "mysql" or not parts.hostname or not database or "/" in database:
            problems.append(f"{_SETTING} is not of the form mysql://USER:PASSWORD@HOST:3306/DATABASE")
        options, wrong = _options(parts.query)
        problems += wrong
        if problems:
            raise ConfigError(problems)
        arguments = {
            "user": unquote(parts.username or ""),
            "password": unquote(parts.password or ""),
            "host": unquote(parts.hostname or ""),
            "port": port,
            "database": database,
        }
        return cls(f"{parts.hostname}:{port}/{database}", arguments | options)


def _options(query: str) -> tuple[dict[str, Any], list[str]]:
    options: dict[str, Any] = {}
    problems = []
    for name, _, text in (option.partition("=") for option in query.split("&") if option):
        if name not in _OPTIONS:
            known = ", ".join(sorted(_OPTIONS))
            problems.append(f"{_SETTING}: there is no option {name!r}; there are {known}")
        elif name in options:
            problems.append(f"{_SETTING}: the option {name} is given twice")
        else:
            try:
                options[name] = _OPTIONS[name](unquote(text))
            except ValueError as error:
                problems.append(f"{_SETTING}: the option {name} {error}")
                options[name] = None
    if ("ssl_cert" in options) != ("ssl_key" in options):
        problems.append(f"{_SETTING}: ssl_cert and ssl_key go together")
    if options.get("ssl_disabled") and any(name.startswith("ssl_ca") for name in options):
        problems.append(f"{_SETTING}: ssl_disabled contradicts ssl_ca")
    if "ssl_ca" in options or options.get("ssl_verify_identity"):
        options.setdefault("ssl_verify_cert", True)
    options |= {"charset": _CHARSET, "collation": _COLLATION}
    return options, problems
