"""Backend URLs: legal schemes per role, relative paths, and passwords that are never shown.

Paths: `file:data/bus` is relative to the configuration file's folder, `file:///var/msgx/bus` is
absolute. `sqlite:///data/store.db` is relative, `sqlite:////var/msgx/store.db` (four slashes) absolute.
Paths are taken literally, without percent-decoding. `memory:` lives and dies with the process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from .kinds import Kind, as_text, refuse

_PASSWORD = re.compile(r"(?P<head>://[^/?#:@\s]*:)(?P<secret>.*)(?P<tail>@)", re.DOTALL)
_PARAMETER = re.compile(
    r"(?P<head>[?&][^=&\s]*(?:pass|pwd|secret|token|key)[^=&\s]*=)(?P<secret>[^&\s]+)", re.IGNORECASE
)
_ALIASES = {"postgres": "postgresql"}
_SQLITE = "sqlite:///"


class Url(NamedTuple):
    """A checked URL. `text` is the whole, password included: for adapters only.

    `path` is set for `file:` and `sqlite:` and absolute once the configuration is loaded; `str()` and
    `repr()` mask passwords.
    """

    text: str
    scheme: str
    path: Path | None = None

    @property
    def masked(self) -> str:
        """The text with passwords replaced by `***`."""
        return mask(self.text)

    def against(self, base_dir: Path) -> Url:
        """The same with its path made absolute, seen from `base_dir`."""
        if self.path is None:
            return self
        return _with_path(self.scheme, Path(os.path.abspath(base_dir / self.path)))

    def __str__(self) -> str:
        return self.masked

    def __repr__(self) -> str:
        return f"Url({self.masked!r})"


def mask(text: str) -> str:
    """`text` with what looks like a password in a URL replaced by `***`."""
    hidden = _PASSWORD.sub(r"\g<head>***\g<tail>", text)
    return _PARAMETER.sub(r"\g<head>***", hidden)


def _with_path(scheme: str, path: Path) -> Url:
    prefix = _SQLITE if scheme == "sqlite" else ("file://" if path.is_absolute() else "file:")
    return Url(f"{prefix}{path}", scheme, path)


def _sqlite(text: str) -> Url:
    if not text.startswith(_SQLITE) or not text[len(_SQLITE) :].strip("/"):
        raise refuse("write sqlite:///PATH for a relative path, sqlite:////PATH for an absolute one")
    path = text[len(_SQLITE) :]
    if path == ":memory:":
        raise refuse("write memory: instead")
    if "?" in path or "#" in path:
        raise refuse("it takes no parameters")
    return _with_path("sqlite", Path(path))


def _file(text: str) -> Url:
    path = text[len("file:") :]
    if path.startswith("//"):
        path = path[2:]
        if not path.startswith("/"):
            raise refuse("write file:PATH for a relative path, file:///PATH for an absolute one")
    if not path.strip("/"):
        raise refuse("its path is missing")
    return _with_path("file", Path(path))


def _check_hosts(netloc: str) -> None:
    for host in netloc.rpartition("@")[2].split(","):
        match = re.fullmatch(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]\s]+)(?::(\d{1,5}))?", host, re.ASCII)
        if not match:
            raise refuse("its host is missing" if not host else "its host or port is not legal")
        if match[2] and not 0 < int(match[2]) <= 65535:
            raise refuse("its port is not between 1 and 65535")


def _server(text: str, scheme: str) -> Url:
    rest = text.partition(":")[2]
    if not rest.startswith("//"):
        raise refuse(f"write {scheme}://HOST…")
    try:
        parts = urlsplit(text)
    except ValueError:  # its message may hold the password
        raise refuse("it is not a legal URL") from None
    local_socket = scheme in ("postgresql", "unix") and not parts.netloc
    if not local_socket:
        _check_hosts(parts.netloc)
    if scheme in ("mysql", "postgresql") and not parts.path.strip("/"):
        raise refuse(f"its database is missing: {scheme}://HOST/DATABASE")
    return Url(f"{scheme}:{rest}", scheme)


def url(*examples: str) -> Kind[Url]:
    """A URL with the scheme of one of `examples`, which are also what the user is shown."""
    schemes = [example.partition(":")[0] for example in examples]

    def parse(value: object) -> Url:
        if isinstance(value, Url):
            return value
        text = as_text(value)
        scheme, colon, rest = text.partition(":")
        scheme = _ALIASES.get(scheme.lower(), scheme.lower())
        if not colon:
            raise refuse("it has no scheme")
        if scheme not in schemes:
            raise refuse("its scheme is not one of these")
        if re.search(r"[\x00-\x1f\x7f]" if scheme in ("file", "sqlite") else r"[\x00-\x20\x7f]", rest):
            raise refuse("it has a blank or a control character in it")
        if scheme == "memory":
            if rest.strip("/"):
                raise refuse("nothing follows memory:")
            return Url("memory:", scheme)
        if scheme == "sqlite":
            return _sqlite(f"{scheme}:{rest}")
        return _file(f"{scheme}:{rest}") if scheme == "file" else _server(text, scheme)

    return Kind("a URL like " + ", ".join(examples[:-1]) + f" or {examples[-1]}", parse)
