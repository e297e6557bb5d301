"""Elasticsearch's errors in our words: the only table."""

from __future__ import annotations

from elastic_transport import SerializationError
from elasticsearch import ApiError, TransportError

from msgx_core.errors import Transient

FORBIDDEN = 403
TOO_LARGE = 413

Failure = ApiError | TransportError


def is_unclear(error: Failure) -> bool:
    """Whether the cluster answered and nobody can tell what: nothing of that call is confirmed."""
    return isinstance(error, SerializationError)


def translated(error: Failure) -> Transient:
    """An outage; a cluster that refuses all work (rights, quota, a read-only index) is one too (D-04)."""
    if isinstance(error, ApiError):
        return Transient("history", f"Elasticsearch answers {error.status_code}: {_short(error)}")
    return Transient("history", f"Elasticsearch: {type(error).__name__}: {_short(error)}")


def _short(error: Failure) -> str:
    return " ".join(str(error).split())[:200]
