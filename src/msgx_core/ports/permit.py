"""Until when the mailbox may be written to: the fence of tables that are not ours and have no epoch."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

Permit = Callable[[datetime], datetime]
"""Given what the mailbox's own clock shows: until when, by that clock, a write may begin.

Asked before the write, and again when that time is over. What begins at that time or later changes nothing,
however long the call, its statement or this process was held up meanwhile: a mailbox on a server compares in
the statement itself. May raise `Fenced` or `Transient`; then nothing more is written.
"""
