"""All documents about what others read and call, by the names of their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgx_app.answers import schemas
from msgx_app.settings import Settings


def _open_api(settings: Settings) -> dict[str, Any]:
    # Only this one needs the web.
    from msgx_app.http.openapi import described

    return described(settings)


FILES: Final[Mapping[str, Callable[[Settings], dict[str, Any]]]] = MappingProxyType(
    {**schemas.FILES, "openapi.json": _open_api}
)
"""How each file is made."""


def text_of(name: str, settings: Settings) -> str:
    """A file's content: JSON, indented, the same each time."""
    return json.dumps(FILES[name](settings), indent=2, ensure_ascii=False) + "\n"
