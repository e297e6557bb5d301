"""The settings of a decision as text, and what COVERAGE says beside the coverage (D-36)."""

from datetime import date, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.schedule import Days, DnldCoverage, Nothing
from msgx_core.model.sis import FLOP_ROWS
from msgx_core.rules.coverage import coverage_text, parse_coverage
from msgx_core.rules.policy import MissingFlight, Policy, TimeFormat
from msgx_core.rules.policy_text import (
    Grounds,
    parse_grounds,
    parse_policy,
    policy_digest,
    policy_text,
    raw_grounds,
    with_grounds,
)

ZONES = st.sampled_from(["Asia/Shanghai", "America/St_Johns", "UTC"]).map(ZoneInfo)
POLICIES = st.builds(
    Policy,
    airport_zone=ZONES,
    sis_zone=ZONES,
    day_cutover=st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    include_day_boundary=st.booleans(),
    flop_whitelist=st.frozensets(st.sampled_from(sorted(FLOP_ROWS))),
    missing_flight=st.sampled_from(MissingFlight),
    route_max_points=st.integers(1, 7),
    dnld_coverage=st.sampled_from(DnldCoverage),
    suppress_unchanged=st.booleans(),
    time_format=st.sampled_from(TimeFormat),
    ref_allow_empty=st.booleans(),
    late_window=st.integers(0, 10**6).map(lambda s: timedelta(seconds=s)),
)


@given(POLICIES)
def test_a_policy_comes_back(policy: Policy) -> None:
    """D-36: every choice is in the text; equal choices have equal digests."""
    assert parse_policy(policy_text(policy), ZoneInfo) == policy
    assert policy_digest(parse_policy(policy_text(policy), ZoneInfo)) == policy_digest(policy)


def test_each_choice_is_in_the_digest() -> None:
    """D-36: a setting that the text forgot would be verified with the wrong value."""
    texts = {policy_text(Policy()), policy_text(Policy(day_cutover=time(4)))}
    texts |= {policy_text(Policy(suppress_unchanged=True)), policy_text(Policy(flop_whitelist=frozenset()))}
    assert len(texts) == 4
    assert policy_text(Policy()).count('":') == len(Policy.__attrs_attrs__)


def test_coverage_and_grounds_are_one_text() -> None:
    """D-36: each reads its part."""
    days = Days(frozenset({date(2027, 3, 14)}))
    text = with_grounds(coverage_text(days), "ab", "k")
    assert (parse_coverage(text), parse_grounds(text)) == (days, Grounds("ab", "k"))
    text = with_grounds(coverage_text(Nothing()), "ab")
    assert (parse_coverage(text), parse_grounds(text)) == (Nothing(), Grounds("ab"))
    assert parse_grounds(raw_grounds("k")) == Grounds(None, "k")
    assert parse_grounds(None) == parse_grounds("days 2027") == parse_grounds("3") == Grounds()
