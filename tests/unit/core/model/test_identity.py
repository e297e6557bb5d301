"""Business identity of a message."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.identity import Identity
from tests.unit.core.build import meta

PART = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=5)


@given(st.tuples(PART, PART, PART, PART), st.tuples(PART, PART, PART, PART))
def test_two_messages_are_one_only_when_all_four_parts_are(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    """D-23, R-037: `SNDR|TYPE|STYP|SEQN`; `DTTM` has no say."""

    def of(parts: tuple[str, ...], dttm: str) -> Identity:
        sndr, type_, styp, seqn = parts
        return Identity.of(evolve(meta(type_, styp, seqn, dttm), sndr=sndr))

    assert (of(first, "20270314060000") == of(second, "20280101000000")) == (first == second)


def test_sequence_numbers_compare_as_text() -> None:
    """D-23: `8` and `08` are two messages."""
    assert Identity.of(meta(seqn="8")) != Identity.of(meta(seqn="08"))


def test_the_day_may_be_part_of_it() -> None:
    """D-23, R-044: the day of `DTTM`, because `SEQN` restarts; not its time."""
    days = [
        Identity.of(meta(dttm=d), include_day=True)
        for d in ("20270314000000", "20270314235959", "20270315000000")
    ]
    assert days[0] == days[1] != days[2]
    assert days[0].key == "AODB|SCHD|DNLD|8|20270314"


def test_parts_are_trimmed() -> None:
    """D-23, H-09."""
    assert Identity.of(evolve(meta(seqn=" 8\n"), sndr=" AODB ")).key == "AODB|SCHD|DNLD|8"


@pytest.mark.parametrize("msg_id", [1, 99])
def test_a_readmitted_message_has_an_identity_of_its_own(msg_id: int) -> None:
    """D-24: `#<MSG_ID>` behind; no decoded identity can look like that."""
    identity = Identity.of(meta())
    assert identity.readmitted_as(msg_id).key == f"AODB|SCHD|DNLD|8#{msg_id}"
