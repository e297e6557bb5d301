"""Boarding and last-call status: functions of `BOTM` and `LACL`, computed, never stored (D-20)."""

from __future__ import annotations

from msgx_core.model.flight import Fields


def is_boarding(fields: Fields) -> bool:
    """Whether boarding has been announced: `BOTM` is set; an empty `BOTM` takes it back (SIS:3.21).

    >>> is_boarding({"BOTM": "14MAR270730"}), is_boarding({})
    (True, False)
    """
    return "BOTM" in fields


def is_last_call(fields: Fields) -> bool:
    """Whether the last call has gone out: `LACL` is set (SIS:3.35).

    >>> is_last_call({"LACL": "14MAR270750"}), is_last_call({"BOTM": "14MAR270730"})
    (True, False)
    """
    return "LACL" in fields
