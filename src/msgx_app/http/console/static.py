"""Style, script and icon of the pages: files of the package, read once, kept by browsers by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from attrs import frozen
from litestar import Response, get
from litestar.params import FromPath

from msgx_app.http.problems import Problem

_TYPES: Final[Mapping[str, str]] = {
    "board.css": "text/css; charset=utf-8",
    "board.js": "text/javascript; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_KEPT: Final = "public, max-age=31536000, immutable"


@frozen
class StaticFile:
    """One file; `address` changes with its content."""

    name: str
    body: bytes
    media_type: str

    @property
    def address(self) -> str:
        """Where browsers find it."""
        return f"/console/static/{hashlib.sha256(self.body).hexdigest()[:12]}/{self.name}"


def load_static() -> dict[str, StaticFile]:
    """By name."""
    folder = files("msgx_app.http.console").joinpath("static")
    return {name: StaticFile(name, folder.joinpath(name).read_bytes(), kind) for name, kind in _TYPES.items()}


def static_handlers(found: Mapping[str, StaticFile]) -> object:
    """The handler of all of them."""

    @get("/console/static/{version:str}/{name:str}", include_in_schema=False)
    async def static_file(version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
        """A file; an old version is answered with the new file, and not kept."""
        one = found.get(name)
        if one is None:
            raise Problem(404, "there is nothing at this address")
        is_current = one.address.split("/")[3] == version
        kept = _KEPT if is_current else "no-store"
        return Response(one.body, media_type=one.media_type, headers={"Cache-Control": kept})

    return static_file
