"""What a package is complete for, and the checks that come before anything is read."""

from datetime import UTC, date, datetime, timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.errors import Protocol
from msgx_core.model.message import FlightRecord
from msgx_core.model.schedule import Coverage, Days, DnldCoverage, Interval, Nothing
from msgx_core.rules.coverage import (
    CheckedPackage,
    check_count,
    check_package,
    check_scope,
    coverage_text,
    day_range,
    dnld_coverage,
    parse_coverage,
)
from tests.unit.core.build import DAY, NEXT_DAY, POLICY, at, package, record, sodt

TODAY = Days(frozenset({DAY}))


def checked(*records: FlightRecord) -> CheckedPackage:
    return check_package(package(*records), POLICY)


def covers(how: DnldCoverage, *records: FlightRecord) -> Coverage:
    return dnld_coverage(checked(*records), evolve(POLICY, dnld_coverage=how))


@pytest.mark.parametrize(
    ("recs", "actual", "reason"),
    [
        (None, 0, "recs-missing"),
        ("x", 1, "recs-range:x"),
        ("-1", 1, "recs-range:-1"),
        ("1.0", 1, "recs-range:1.0"),
        ("１", 1, "recs-range:１"),
        ("10000", 10000, "recs-range:10000"),
        ("9" * 5000, 1, "recs-range:" + "9" * 40),
        ("2", 1, "recs-mismatch:2!=1"),
        ("0", 1, "recs-mismatch:0!=1"),
        ("002", 1, "recs-mismatch:2!=1"),
    ],
)
def test_a_wrong_count_rejects_the_package(recs: str | None, actual: int, reason: str) -> None:
    """D-12, R-173, R-174: there, a number 0-9999, and right; huge and foreign digits are only text."""
    with pytest.raises(Protocol) as caught:
        check_count(recs, actual)
    assert caught.value.reason == reason


def test_an_empty_count_is_missing_or_out_of_range() -> None:
    """D-12: `<RECS/>` is no number; it must not pass for 0."""
    with pytest.raises(Protocol, match=r"^recs-(missing|range:)$"):
        check_count("", 0)


@pytest.mark.parametrize(("recs", "actual"), [("0", 0), ("9999", 9999), ("0007", 7)])
def test_a_right_count_passes(recs: str, actual: int) -> None:
    """D-12, R-463: both ends of the range."""
    check_count(recs, actual)


@pytest.mark.parametrize("flid", [None, "", "0", "x", "12a", "1234567890123", "１５"])
def test_an_invalid_flid_rejects_the_package(flid: str | None) -> None:
    """D-12, R-175: `flid-invalid:<text>` as PROTOCOL, with the record that has it."""
    with pytest.raises(Protocol, match=rf"^flid-invalid:{flid or ''}$") as caught:
        checked(record(1), record(flid))
    assert caught.value.record == 1


def test_a_repeated_flid_is_found_by_value() -> None:
    """D-12, R-176, H-45: `15` and `0015` are one flight."""
    with pytest.raises(Protocol, match=r"^duplicate-flid:15$") as caught:
        checked(record("15"), record("16"), record("0015"))
    assert caught.value.record == 2


def test_a_checked_package_knows_its_flights_and_days() -> None:
    """D-09, D-14: a `SODT` that does not parse gives no day here."""
    package_ = checked(record(1, SODT=sodt()), record(2, SODT="noon"), record(3), record(4, SODT=""))
    assert package_.flids == {1, 2, 3, 4}
    assert package_.days == {DAY}
    assert [item.sodt_at for item in package_.listed] == [at(), None, None, None]


def test_a_window_covers_nothing() -> None:
    """D-11, R-182: the 48-hour push only upserts, and needs no `SODT`."""
    assert covers(DnldCoverage.WINDOW, record(1, SODT=sodt()), record(2)) == Nothing()


def test_a_single_day_covers_that_day() -> None:
    """D-11: all records share one day, the operator vouches for it."""
    assert covers(DnldCoverage.SINGLE_DAY, record(1, SODT=sodt()), record(2, SODT=sodt(hour=23))) == TODAY


def test_a_single_day_with_several_days_covers_nothing() -> None:
    """D-11: too few deletions heal, so doubt covers nothing; then `SODT` is not needed either."""
    several = (record(1, SODT=sodt()), record(2, SODT=sodt(NEXT_DAY)))
    assert covers(DnldCoverage.SINGLE_DAY, *several) == Nothing()
    assert covers(DnldCoverage.SINGLE_DAY, *several, record(3)) == Nothing()


def test_observed_covers_the_span_of_its_times() -> None:
    """D-11: first to last `SODT`, whatever the order of the records."""
    sent = [record(n, SODT=sodt(hour=hour)) for n, hour in ((1, 12), (2, 8), (3, 20))]
    assert covers(DnldCoverage.OBSERVED, *sent) == Interval(at(hour=8), at(hour=20))
    assert covers(DnldCoverage.OBSERVED, sent[0]) == Interval(at(), at())


@pytest.mark.parametrize("how", list(DnldCoverage))
def test_an_empty_download_covers_nothing(how: DnldCoverage) -> None:
    """D-12: an empty package without coverage deletes nothing."""
    assert covers(how) == Nothing()


@pytest.mark.parametrize("how", [DnldCoverage.SINGLE_DAY, DnldCoverage.OBSERVED])
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (record(2), "sodt-missing:2"),
        (record(2, SODT=""), "sodt-missing:2"),
        (record(2, SODT="x"), "bad-time:SODT:2"),
    ],
)
def test_coverage_needs_every_sodt(how: DnldCoverage, bad: FlightRecord, reason: str) -> None:
    """D-12: where coverage needs it, a missing or illegal `SODT` rejects the package."""
    with pytest.raises(Protocol, match=rf"^{reason}$"):
        covers(how, record(1, SODT=sodt()), bad)
    with pytest.raises(Protocol, match=rf"^{reason}$"):
        check_scope(checked(record(1, SODT=sodt()), bad), TODAY)


def test_a_record_outside_the_covered_days_rejects_the_package() -> None:
    """R-177, D-11: with coverage, a record outside it is `out-of-scope:<FLID>`; without, there is no
    outside."""
    sent = checked(record(1, SODT=sodt()), record(2, SODT=sodt(NEXT_DAY, 0)))
    with pytest.raises(Protocol, match=r"^out-of-scope:2$") as caught:
        check_scope(sent, TODAY)
    assert (caught.value.flid, caught.value.record) == (2, 1)
    check_scope(sent, Nothing())
    check_scope(sent, Interval(at(), at(NEXT_DAY, 0)))
    check_scope(sent, day_range(DAY, NEXT_DAY))


def test_a_range_of_days_has_both_ends() -> None:
    """D-11: the whole days inside the range of the request."""
    assert day_range(DAY, DAY) == TODAY
    assert len(day_range(date(2027, 2, 27), date(2027, 3, 2)).days) == 4


INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2099, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
COVERAGES = st.one_of(
    st.just(Nothing()),
    st.builds(Days, st.frozensets(st.dates(), max_size=4)),
    st.builds(
        lambda first, span: Interval(first, first + span), INSTANTS, st.timedeltas(timedelta(0), timedelta(9))
    ),
)


@given(COVERAGES)
def test_coverage_survives_its_text(coverage: Coverage) -> None:
    """D-02, D-36: what is kept in `PROC_STATE` is what verification reads."""
    assert parse_coverage(coverage_text(coverage)) == coverage
    assert parse_coverage(None) == Nothing()
