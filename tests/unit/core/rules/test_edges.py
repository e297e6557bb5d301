"""Values at the edge of a rule, where a slip would not be seen in an ordinary message."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from msgx_core.errors import Protocol
from msgx_core.model.change import FlightSnapshot, RosterReplace
from msgx_core.model.events import DueEvent, EventSettled, EventStatus, Target
from msgx_core.model.message import Node, ReferencePackage
from msgx_core.model.proc import MessageState
from msgx_core.model.reference import PutRecord, RefRecord, ResourceStatus
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.schedule import Days, Interval, Nothing, Roster, SenderMark, SnapshotFlag, SnapshotResult
from msgx_core.rules.coverage import MAX_RECS, check_count, check_package
from msgx_core.rules.ended import Ended, EndedBy, EndedWindows, ended
from msgx_core.rules.outbound import asked_window, is_same_request, request_text
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import Grounds, parse_grounds, policy_text, raw_grounds, with_grounds
from msgx_core.rules.reference import MAX_REF_RECS, plan_resource_status, statuses
from msgx_core.rules.render import node_xml
from msgx_core.rules.replay import replay_refusal
from msgx_core.rules.requests import request_coverage
from msgx_core.rules.retry import RetryPolicy, outage_pause_s, settle_delivery
from msgx_core.rules.schedule import plan_schedule, schedule_query
from msgx_core.rules.snapshot_log import LogContext, committed_rows, flag_alerts, flid_digest, mark_sender
from msgx_core.rules.sources import source_of
from msgx_core.rules.sweep import plan_departure
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, flight, meta, node, package, record, sodt
from tests.unit.core.world import World

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("recs", ["000000001", "1"])
def test_a_count_may_have_leading_zeros(recs: str) -> None:
    """R-173: up to nine digits are read; more are no count, whatever their value."""
    check_count(recs, 1)
    with pytest.raises(Protocol, match="recs-range"):
        check_count("0" * 9 + recs, 1)


def test_the_largest_counts() -> None:
    """R-173, R-463: 9999 records of a schedule; reference data have a limit of their own."""
    check_count(str(MAX_RECS), MAX_RECS)
    with pytest.raises(Protocol, match="recs-range"):
        check_count(str(MAX_RECS + 1), MAX_RECS + 1)
    assert MAX_REF_RECS > MAX_RECS


def test_what_is_read_for_a_package() -> None:
    """D-11, D-16, D-21: its flights, their main flights, its days, the sender; rosters where covered."""
    body = package(record(7, SODT=sodt(), MAID="9"), record(8, SODT=sodt(NEXT_DAY), MAID="x"), record(6))
    checked = check_package(body, POLICY)
    window = schedule_query(checked, Nothing(), "AODB")
    assert (window.flids, window.maids) == (frozenset({6, 7, 8}), frozenset({9}))
    assert (window.days, window.roster_days) == (frozenset({DAY, NEXT_DAY}), frozenset())
    assert window.interval is None
    assert window.sndr == "AODB"
    assert schedule_query(checked, Days(frozenset({DAY})), "AODB").roster_days == {DAY}
    assert schedule_query(checked, Interval(NOW, NOW), "AODB").interval == (NOW, NOW)


def test_routes_are_cut_where_the_policy_says() -> None:
    """D-19: `msgx.route.max-points`, counted for the whole package."""
    points = [{"APCD": f"A{n}"} for n in range(5)]
    world = World.of(policy=Policy(route_max_points=2))
    plan = world.schedule(package(record(1, ROUT=points), record(2, ROUT=points)))
    assert plan.truncated == 6
    assert [world.flights[flid].fields["ROUT"] for flid in (1, 2)] == [tuple(points[:2])] * 2


def test_only_a_covering_package_replaces_rosters() -> None:
    """D-11: without whole days each record adds its flight; with them the roster is replaced."""
    added = World.of().schedule(package(record(1, SODT=sodt()), record(2)))
    assert (added.rosters, added.roster_add) == ((), {1: DAY})
    replaced = World.of().schedule(package(record(1, SODT=sodt())), Days(frozenset({DAY})))
    assert replaced.rosters == (RosterReplace(DAY, 0, frozenset({1})),)
    assert replaced.roster_add == {}
    assert World.of().schedule(package(record(1, SODT=sodt())), Interval(NOW, NOW)).rosters == ()


def test_a_day_without_a_roster_is_covered_for_the_first_time() -> None:
    """R-318, R-439: from no generation to the first, and the log says so."""
    world, covered = World.of(), Days(frozenset({DAY, NEXT_DAY}))
    checked = check_package(package(record(1, SODT=sodt())), POLICY)
    snapshot = FlightSnapshot()
    plan = world.schedule(package(record(1, SODT=sodt())), covered)
    first, empty = committed_rows(LogContext(1, NOW), checked, covered, plan, snapshot, POLICY)
    assert (first.old_version, first.new_version, first.deleted_count) == (0, 1, 0)
    assert (first.old_flid_digest, first.new_flid_digest) == (flid_digest(()), flid_digest({1}))
    assert (empty.old_version, empty.new_version, empty.flags) == (0, 0, (SnapshotFlag.EMPTY,))
    (bare,) = committed_rows(LogContext(1, NOW), checked, Nothing(), plan, snapshot, POLICY)
    assert {row.result for row in (first, empty, bare)} == {SnapshotResult.COMMITTED}


def test_alerts_name_their_message() -> None:
    """D-41: flags and empty days alike."""
    alerts = flag_alerts(5, [SnapshotFlag.RECS_DROP], [NEXT_DAY, DAY])
    assert [alert.msg_id for alert in alerts] == [5, 5]
    assert alerts[1].detail == f"no record for {DAY}, {NEXT_DAY}; roster kept"


def test_the_first_mark_of_a_sender() -> None:
    """D-16: number and time of the message; a schedule's also where they are compared among schedules."""
    assert mark_sender(None, meta("FLOP", "GTDT", seqn="12")) == SenderMark("AODB", 12, "20270314060000")
    download = mark_sender(None, meta("SCHD", "DNLD", seqn="12"), schedule_recs=30)
    assert (download.schedule_dttm, download.dnld_recs, download.resp_recs) == ("20270314060000", 30, None)
    answer = mark_sender(None, meta("SCHD", "RESP", seqn="12"), schedule_recs=30)
    assert (answer.schedule_dttm, answer.dnld_recs, answer.resp_recs) == ("20270314060000", None, 30)


def test_a_state_of_a_resource_is_kept_whole() -> None:
    """R-426, R-428: keyed by type and id, with its message and time; what is not said is empty."""
    sent = node("RSTA", RTYP="GATE", RSID="B1", STAT="D", STRT=sodt())
    (put,) = plan_resource_status(
        meta("RSTA", "DNLD"), ReferencePackage("1", (sent,)), msg_id=5, now=NOW, policy=POLICY
    )
    assert put == PutRecord(RefRecord("RSTA", "GATE/B1", sent, 5, NOW))
    bare = RefRecord("RSTA", "x", node("RSTA"), 5, NOW)
    assert statuses([bare], POLICY) == (ResourceStatus("", "", "", None, None, 5),)
    (opened,) = statuses([RefRecord("RSTA", "GATE/B1", sent, 5, NOW)], POLICY)
    assert opened.starts_at == datetime(2027, 3, 14, 4, tzinfo=UTC)


def test_a_large_answer_of_states() -> None:
    """R-424, D-40: reference data are not bound to the limit of schedules."""
    many = tuple(node("RSTA", RTYP="GATE", RSID=f"{n}", STAT="E") for n in range(MAX_RECS + 1))
    body = ReferencePackage(str(len(many)), many)
    assert (
        len(plan_resource_status(meta("RSTA", "RESP"), body, msg_id=1, now=NOW, policy=POLICY))
        == MAX_RECS + 1
    )


def test_what_a_refused_replay_is_told() -> None:
    """D-25: a message that waits, and one that is done, are told apart."""
    told = [replay_refusal(state, None, None, force=True) for state in MessageState]
    said = {state: text for state, text in zip(MessageState, told, strict=True) if text}
    assert said == {
        MessageState.PENDING: "PENDING: it is still waiting for its turn",
        MessageState.SUCCEEDED: "SUCCEEDED: only FAILED and DEAD messages can be replayed",
        MessageState.SKIPPED: "SKIPPED: only FAILED and DEAD messages can be replayed",
    }


@pytest.mark.parametrize(("first", "last"), [(DAY, None), (None, DAY)])
def test_a_request_with_half_a_range_covers_nothing(first: date | None, last: date | None) -> None:
    """D-11: an error, not a guess."""
    asked = Request(5, RequestSlot.RQFD, RequestState.SENT, NOW, "1", first_day=first, last_day=last)
    with pytest.raises(ValueError, match="5"):
        request_coverage(asked)


@pytest.mark.parametrize(("code", "status"), [(None, EventStatus.SENT), ("too-large", EventStatus.DEAD)])
def test_a_delivery_settles_its_event_and_no_other(code: str | None, status: EventStatus) -> None:
    """R-359: id, topic, flight and version are those of what was sent."""
    event = DueEvent(7, Target.SCHD, 15, 3, "{}", attempts=2)
    settled = settle_delivery(event, code, RetryPolicy(), NOW)
    assert (settled.event_id, settled.target, settled.flid, settled.version) == (7, Target.SCHD, 15, 3)
    assert (type(settled), settled.status) == (EventSettled, status)


def test_pauses_at_their_ends() -> None:
    """D-04, R-117: 1 2 4 8 16 30 seconds; without steps no pause; the text names the right number."""
    assert [outage_pause_s(n) for n in (0, 1, 2, 3, 4, 5, 6, 7)] == [1, 1, 2, 4, 8, 16, 30, 30]
    assert RetryPolicy(1, ()).next_at(1, NOW) == NOW
    (problem,) = RetryPolicy(8, (SECOND,)).problems("k")
    assert "give 7" in problem


def test_coverage_and_grounds_in_one_text() -> None:
    """D-36: as short as can be, and each part is read back."""
    assert with_grounds(None, "ab") == with_grounds("{}", "ab") == '{"policy":"ab"}'
    assert with_grounds(None, "ab", "day/7") == '{"policy":"ab","raw":"day/7"}'
    days = '{"days": ["2027-03-14"]}'
    assert with_grounds(days, "ab") == '{"days":["2027-03-14"],"policy":"ab"}'
    assert with_grounds(days, "ab", "day/7") == '{"days":["2027-03-14"],"policy":"ab","raw":"day/7"}'
    assert raw_grounds("day/7") == '{"raw":"day/7"}'
    assert parse_grounds(with_grounds(days, "ab", "day/7")) == Grounds("ab", "day/7")
    assert parse_grounds('{"policy":7,"raw":[]}') == Grounds()


def test_a_zone_is_named() -> None:
    """D-36: by its name, so that another machine finds it."""
    assert json.loads(policy_text(POLICY))["airport_zone"] == "Asia/Shanghai"
    assert json.loads(policy_text(Policy()))["airport_zone"] == "UTC"


AHEAD, BEHIND = Policy(sis_zone=POLICY.airport_zone), Policy(airport_zone=POLICY.airport_zone)
FAR_AHEAD = Policy(airport_zone=ZoneInfo("Etc/GMT+12"), sis_zone=ZoneInfo("Pacific/Kiritimati"))


@pytest.mark.parametrize(
    ("first", "last", "policy"),
    [
        (date(1999, 12, 31), date(2000, 1, 1), POLICY),
        (date(2099, 12, 31), date(2100, 1, 1), POLICY),
        (date(2000, 1, 1), date(2000, 1, 2), BEHIND),
        (date(2099, 12, 31), date(2099, 12, 31), AHEAD),
        (date(1999, 12, 31), date(2000, 1, 1), FAR_AHEAD),
    ],
)
def test_days_that_two_digits_cannot_say(first: date, last: date, policy: Policy) -> None:
    """wire.md: 2000 to 2099, in the zone of the wire as well."""
    with pytest.raises(ValueError, match=r"^days are of the years 2000 to 2099$"):
        asked_window(first, last, policy)


def test_what_is_written_into_a_request_is_escaped() -> None:
    """D-32: each of the three characters, once."""
    asked = Request(1, RequestSlot.RQRD, RequestState.PENDING, NOW, "1", "a<b>&c", send_started_at=NOW)
    assert "<RTYP>a&lt;b&gt;&amp;c</RTYP>" in request_text(asked, "R<S>", POLICY)
    assert "<SNDR>R&lt;S&gt;</SNDR>" in request_text(asked, "R<S>", POLICY)


def test_a_request_without_a_category_is_nobodys() -> None:
    """D-32: its sub-type is empty, and no message has that."""
    asked = Request(1, RequestSlot.RQRD, RequestState.PENDING, NOW, "8", None, send_started_at=NOW)
    assert is_same_request(meta("RQRD", "", seqn="8"), asked, "AODB")
    assert not is_same_request(meta("RQRD", "GLST", seqn="8"), asked, "AODB")


def test_an_unknown_reason_names_itself() -> None:
    """D-25: and is said to be of the closed list's decision."""
    assert source_of("never-heard-of:7") == ("never-heard-of:7", "D-25")
    assert source_of(None) == ("", "D-25")


def test_who_leaves_without_a_day_or_a_generation() -> None:
    """D-28, D-33: no day, no generation; a day that was never covered has generation 0."""
    flights = {1: flight(1, day=None), 2: flight(2)}
    plan = plan_departure([1, 2], FlightSnapshot(flights, generations={}), now=NOW, policy=POLICY)
    nowhere, uncovered = (json.loads(plan.tombstones[flid] or "") for flid in (1, 2))
    assert not {"OPERATION_DAY", "DAY_VERSION"} & set(nowhere)
    assert (uncovered["OPERATION_DAY"], uncovered["DAY_VERSION"]) == (f"{DAY}", 0)


def test_a_main_flight_that_stays_keeps_its_day() -> None:
    """D-10, D-33: the step that archiving takes moves nothing but list, version and time."""
    child = flight(1, MAID=9)
    main = flight(9, mafl=(child.as_child,), STND="215")
    plan = plan_departure([1], FlightSnapshot({1: child, 9: main}), now=NOW, policy=POLICY)
    (put,) = plan.notified
    assert (put.state.operation_day, put.state.status, put.state.fields) == (DAY, main.status, main.fields)


def test_rosters_of_days_that_are_not_covered_are_not_replaced() -> None:
    """D-11: a day without any record in a package that has some keeps its roster."""
    world = World.of(flight(5, day=NEXT_DAY))
    world.rosters[NEXT_DAY] = Roster(NEXT_DAY, 3, frozenset({5}))
    plan = world.schedule(package(record(1, SODT=sodt())), Days(frozenset({DAY, NEXT_DAY})))
    assert plan.empty_days == {NEXT_DAY}
    assert (world.generation(NEXT_DAY), world.roster(NEXT_DAY)) == (3, {5})


def test_who_leaves_with_and_without_a_main_flight() -> None:
    """D-33: only a main flight that stays and loses a child is told."""
    child, single = flight(1, MAID=9), flight(2)
    main = flight(9, mafl=(child.as_child,))
    snapshot = FlightSnapshot({1: child, 2: single, 9: main})
    plan = plan_departure([1, 2], snapshot, now=NOW, policy=POLICY)
    assert [put.state.flid for put in plan.notified] == [9]


def test_a_flight_without_a_day_ends_by_its_last_change() -> None:
    """R-410: the moment that history keeps is that of the change."""
    why = ended(
        flight(1, day=None), NOW + timedelta(days=7), EndedWindows(null_day=timedelta(days=7)), POLICY
    )
    assert why == Ended(EndedBy.NULL_DAY, NOW, NOW + timedelta(days=7))


def test_attributes_of_a_reference_record() -> None:
    """D-40: several, and blanks in them that a parser would make plain."""
    assert node_xml(Node("A", attributes={"x": "1\n2\t3", "y": "<"})) == '<A x="1&#10;2&#9;3" y="&lt;"/>'


def test_a_store_that_says_nothing_about_a_day() -> None:
    """architecture (Embedding): `plan_schedule` on a snapshot without rosters: the first generation."""
    checked = check_package(package(record(1, SODT=sodt())), POLICY)
    covered = Days(frozenset({DAY}))
    plan = plan_schedule(checked, covered, FlightSnapshot(), msg_id=1, now=NOW, policy=POLICY)
    assert plan.rosters == (RosterReplace(DAY, 0, frozenset({1})),)
    assert plan.deleted == {DAY: frozenset()}
