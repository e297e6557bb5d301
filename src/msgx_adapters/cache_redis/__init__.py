"""Snapshot cache in Redis."""

from .cache import RedisCache

__all__ = ["RedisCache"]
