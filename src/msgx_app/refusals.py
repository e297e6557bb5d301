"""The answer is no, in words: what the command line and the HTTP interface say alike."""

from __future__ import annotations


class Negative(Exception):
    """The answer is no: refused, still waiting. The text says what and why."""


class Missing(Negative):
    """There is no such thing."""


class BadValue(ValueError):
    """A value that somebody gave is not legal; the text says what is."""
