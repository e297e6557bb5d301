"""Status that is computed when it is read: nothing of it is kept (D-20)."""

from __future__ import annotations

import pytest
from hypothesis import given

from msgx_core.model.flight import Fields
from msgx_core.model.sis import COLLECTIONS, SCALARS, SINGLES
from msgx_core.rules.merge import apply_flop, merge_complete, read_flop
from msgx_core.rules.records import read_record
from msgx_core.rules.status import is_boarding, is_last_call
from msgx_core.testing.strategies import fields
from tests.unit.core.build import record

TIME = "14MAR270730"
STATUS = {"BOTM": is_boarding, "LACL": is_last_call}


@pytest.mark.parametrize("tag", STATUS)
def test_a_time_sets_it_and_an_empty_one_takes_it_back(tag: str) -> None:
    """R-231, R-241, R-469: by the event of that tag; the other one is not touched."""
    status, other = STATUS[tag], STATUS["LACL" if tag == "BOTM" else "BOTM"]
    plan = merge_complete(read_record(record(7, SODT=TIME), 7))
    announced = apply_flop(plan, read_flop(tag, record(7, **{tag: TIME})))
    assert (status(plan), status(announced), other(announced)) == (False, True, False)
    assert not status(apply_flop(announced, read_flop(tag, record(7, **{tag: ""}))))


@given(fields())
def test_it_is_a_function_of_what_was_sent(held: Fields) -> None:
    """R-469: a full state holds the tags of the interface and nothing that was made of them."""
    assert is_boarding(held) == ("BOTM" in held)
    assert is_last_call(held) == ("LACL" in held)
    assert set(held) <= {*SCALARS, *SINGLES, *COLLECTIONS}
