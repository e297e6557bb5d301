"""Headers that go with every answer, so that a browser runs nothing that a message says."""

from __future__ import annotations

from typing import Final

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing inline, nothing from elsewhere; the pages of the console keep to it."""

COMMON: Final[tuple[tuple[bytes, bytes], ...]] = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }.items()
)
NOT_KEPT: Final = (b"cache-control", b"no-store")
"""For answers that do not say themselves how long they may be kept."""


def completed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that go with every one."""
    there = {name.lower() for name, _ in headers}
    more = [header for header in (*COMMON, NOT_KEPT) if header[0] not in there]
    return [*headers, *more]
