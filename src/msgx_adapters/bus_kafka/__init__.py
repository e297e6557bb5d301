"""Event bus on Kafka."""

from .bus import KafkaBus

__all__ = ["KafkaBus"]
