"""The schedule log: flags, digests and rows; a trace that no decision reads."""

import hashlib

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.alert import AlertCode
from msgx_core.model.schedule import (
    Coverage,
    Days,
    Interval,
    Nothing,
    SenderMark,
    SnapshotFlag,
    SnapshotLogRow,
    SnapshotResult,
)
from msgx_core.rules.coverage import check_package, day_range
from msgx_core.rules.operation_day import day_bounds
from msgx_core.rules.schedule import schedule_query
from msgx_core.rules.snapshot_log import (
    LogContext,
    bare_rows,
    committed_rows,
    flag_alerts,
    flags_of,
    flid_digest,
    mark_sender,
    seqn_regressed,
)
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, at, flight, meta, package, record, sodt
from tests.unit.core.world import World

HELD = SenderMark("AODB", 8, "20270314060000", "20270314060000", dnld_recs=20, resp_recs=40)
SHARED = LogContext(5, NOW, recs=1, flags=(SnapshotFlag.RECS_DROP,), duration_ms=12)


@given(st.sets(st.integers(1, 10**12)))
def test_the_digest_of_a_roster(flids: set[int]) -> None:
    """H-53: SHA-256 of the FLIDs, sorted as numbers, joined by commas."""
    text = ",".join(str(flid) for flid in sorted(flids))
    assert flid_digest(flids) == hashlib.sha256(text.encode()).hexdigest()
    assert len({flid_digest(flids), flid_digest(flids | {10**12 + 1})}) == 2


@pytest.mark.parametrize(
    ("styp", "recs", "flags"),
    [
        ("DNLD", 10, []),
        ("DNLD", 9, [SnapshotFlag.RECS_DROP]),
        ("RESP", 20, []),
        ("RESP", 19, [SnapshotFlag.RECS_DROP]),
        ("DNLD", 0, [SnapshotFlag.EMPTY, SnapshotFlag.RECS_DROP]),
    ],
)
def test_a_drop_is_measured_against_the_same_sub_type(
    styp: str, recs: int, flags: list[SnapshotFlag]
) -> None:
    """H-53: below half of the last committed one, which had 20 records or more."""
    assert list(flags_of(meta(styp=styp, seqn="9"), recs, HELD)) == flags


def test_a_small_snapshot_cannot_drop() -> None:
    """H-53: only from 20 records on."""
    assert flags_of(meta(seqn="9"), 1, evolve(HELD, dnld_recs=19)) == ()
    assert flags_of(meta(seqn="9"), 1, evolve(HELD, dnld_recs=None)) == ()


@pytest.mark.parametrize(
    ("seqn", "dttm", "flags"),
    [
        ("8", "20270314060000", []),
        ("9", "20270314055959", [SnapshotFlag.OUT_OF_ORDER]),
        ("7", "20270314060001", [SnapshotFlag.SEQN_REGRESSION]),
        ("0009", "20270314060000", []),
    ],
)
def test_order_is_observed(seqn: str, dttm: str, flags: list[SnapshotFlag]) -> None:
    """R-129, H-53: older `DTTM`, lower `SEQN` (as numbers); equal is neither. Nothing is blocked."""
    assert list(flags_of(meta(seqn=seqn, dttm=dttm), 20, HELD)) == flags


def test_a_schedule_is_out_of_order_only_among_schedules() -> None:
    """H-53: older than the last applied snapshot, whatever else the sender said since."""
    later_flop = evolve(HELD, dttm="20270314090000")
    assert flags_of(meta(seqn="9", dttm="20270314070000"), 20, later_flop) == ()


def test_a_first_message_has_no_flags() -> None:
    """H-53: there is nothing to compare with; only `EMPTY` speaks for itself."""
    assert flags_of(meta(), 5, None) == ()
    assert flags_of(meta(), 0, None) == (SnapshotFlag.EMPTY,)
    assert not seqn_regressed(None, meta(seqn="1"))


def test_the_mark_of_a_sender() -> None:
    """D-16: last `SEQN` and `DTTM` of any message; schedules also their own `DTTM` and count by sub-type."""
    flop = mark_sender(None, meta("FLOP", "GTDT", "7", "20270314050000"))
    assert flop == SenderMark("AODB", 7, "20270314050000")
    dnld = mark_sender(flop, meta(styp="DNLD", seqn="6"), 12)
    assert dnld == SenderMark("AODB", 6, "20270314060000", "20270314060000", dnld_recs=12)
    resp = mark_sender(dnld, meta(styp="RESP", seqn="9"), 3)
    assert (resp.dnld_recs, resp.resp_recs) == (12, 3)
    later = mark_sender(resp, meta("FLOP", "GTDT", "10", "20270314070000"))
    assert (later.dttm, later.schedule_dttm) == ("20270314070000", "20270314060000")


def test_each_flag_raises_its_alert() -> None:
    """R-441, D-41, R-438: one alert per flag, one for all empty days; the mismatch has its own alert
    elsewhere."""
    alerts = flag_alerts(5, list(SnapshotFlag), [NEXT_DAY, DAY])
    codes = [alert.code for alert in alerts]
    assert codes == [
        AlertCode.EMPTY,
        AlertCode.RECS_DROP,
        AlertCode.OUT_OF_ORDER,
        AlertCode.SEQN_REGRESSION,
        AlertCode.EMPTY,
    ]
    assert "2027-03-14, 2027-03-15" in (alerts[-1].detail or "")
    assert flag_alerts(5, [], []) == ()


def rows_of(world: World, coverage: Coverage, *records: object) -> list[SnapshotLogRow]:
    body = package(*records)  # type: ignore[arg-type]
    checked = check_package(body, POLICY)
    snapshot = world.read(schedule_query(checked, coverage, "AODB"))
    return list(committed_rows(SHARED, checked, coverage, world.schedule(body, coverage), snapshot, POLICY))


def test_a_covered_package_logs_each_day() -> None:
    """D-16, R-439: bounds, versions, digests and deletions of that day; an empty day is flagged."""
    world = World.of(flight(1), flight(2), flight(3, day=NEXT_DAY), covered={DAY: 4, NEXT_DAY: 7})
    today, tomorrow = rows_of(world, day_range(DAY, NEXT_DAY), record(1, SODT=sodt()))
    assert (today.operation_day, today.scope_start, today.scope_end) == (DAY, *day_bounds(DAY, POLICY))
    assert (today.old_version, today.new_version, today.deleted_count) == (4, 5, 1)
    assert (today.old_flid_digest, today.new_flid_digest) == (flid_digest({1, 2}), flid_digest({1}))
    assert today.flags == (SnapshotFlag.RECS_DROP,)
    assert (tomorrow.operation_day, tomorrow.old_version, tomorrow.new_version) == (NEXT_DAY, 7, 7)
    assert tomorrow.flags == (SnapshotFlag.RECS_DROP, SnapshotFlag.EMPTY)
    assert {row.result for row in (today, tomorrow)} == {SnapshotResult.COMMITTED}
    assert {(row.msg_id, row.recs, row.duration_ms) for row in (today, tomorrow)} == {(5, 1, 12)}


@pytest.mark.parametrize("coverage", [Nothing(), Interval(at(hour=8), at(hour=9))])
def test_an_attempt_without_whole_days_logs_once(coverage: Coverage) -> None:
    """D-16: the span of its times is its scope, from which retention counts."""
    world = World.of(flight(5, SODT=sodt(hour=8, minute=30)))
    (row,) = rows_of(world, coverage, record(1, SODT=sodt(hour=9)), record(2, SODT=sodt(hour=8)), record(3))
    assert (row.operation_day, row.scope_start, row.scope_end) == (None, at(hour=8), at(hour=9))
    assert row.deleted_count == (0 if coverage == Nothing() else 1)
    assert row.new_flid_digest == flid_digest({1, 2, 3})


def test_an_empty_attempt_has_no_scope() -> None:
    """D-16: retention then counts from `RECV_AT`."""
    (row,) = rows_of(World(), Nothing())
    assert (row.scope_start, row.scope_end, row.recv_at) == (None, None, NOW)


@pytest.mark.parametrize("result", [SnapshotResult.ROLLED_BACK, SnapshotResult.REPLAY_SKIPPED])
def test_attempts_without_effect_are_logged_too(result: SnapshotResult) -> None:
    """R-440, D-13, D-16, R-443: one row per covered day, else one; no versions, no digests."""
    one = bare_rows(SHARED, Nothing(), result, POLICY)
    both = bare_rows(SHARED, day_range(DAY, NEXT_DAY), result, POLICY)
    assert [row.operation_day for row in one] == [None]
    assert [row.operation_day for row in both] == [DAY, NEXT_DAY]
    assert {(row.result, row.new_version, row.new_flid_digest) for row in (*one, *both)} == {
        (result, None, None)
    }
    assert both[0].scope_end == both[1].scope_start
    assert len(bare_rows(SHARED, Days(frozenset()), result, POLICY)) == 1
