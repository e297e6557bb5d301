"""The shipped strategies keep their word: legal is taken, broken ends as its name says (D-12, D-25)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded import System, closing_system
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_core.errors import MessageError
from msgx_core.model.message import MsgKind, ReferencePackage, SchedulePackage
from msgx_core.model.proc import MessageState, ProcRow
from msgx_core.model.schedule import Days, Interval, Nothing
from msgx_core.model.sis import CATEGORIES, FLOP_ROWS, MODEL_TAGS, whitelist
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.rules.policy import Policy
from msgx_core.testing import strategies
from msgx_core.testing.strategies import FAULTS, ODDITIES, UNDER_DAYS
from msgx_core.testing.strategies.faults_of_flights import DAYS
from msgx_core.testing.wire import WireMessage, flight_record
from requesting import ask

NOW = datetime(2027, 3, 14, 6, 0, tzinfo=UTC)
HEAD = ProcRow(msg_id=1, state=MessageState.PENDING, attempts=0, enqueued_at=NOW)
CODEC = LxmlCodec()
SOME = settings(max_examples=max(10, settings().max_examples // 5))
"""Examples of each name: there are many names."""

KINDS: dict[MsgKind, Callable[[], st.SearchStrategy[WireMessage]]] = {
    MsgKind.SCHEDULE: strategies.schedules,
    MsgKind.ADFT: strategies.adfts,
    MsgKind.FLOP: strategies.flops,
    MsgKind.FDEL: strategies.fdels,
    MsgKind.REFERENCE: strategies.references,
    MsgKind.RESOURCE_STATUS: strategies.resource_statuses,
    MsgKind.ERROR_ANSWER: strategies.error_answers,
    MsgKind.UNSUPPORTED: strategies.unsupported,
}


def opened() -> Iterator[System]:
    """An empty airport that lets every FLOP in; what is decided in it is not written."""
    config = PipelineConfig(policy=Policy(flop_whitelist=whitelist("extended")))
    with closing_system(None, config=config) as made:
        yield made


empty = pytest.fixture(scope="module")(opened)


@pytest.fixture(scope="module")
def asking() -> Iterator[System]:
    """The same with an open request for the days that `UNDER_DAYS` covers."""
    for made in opened():
        made.start()
        ask(made, min(DAYS.days), max(DAYS.days))
        yield made


def fate(system: System, sent: WireMessage) -> tuple[str, str | None, str | None]:
    """State, code and reason with which a message would end."""
    try:
        _, decision = system.pipeline.replay.processor.preview(1, HEAD, sent.raw)
    except MessageError as error:
        return "DEAD", error.code, error.reason
    outcome = decision.change.outcome if isinstance(decision, Apply) else decision.outcome
    return outcome.state.value, outcome.code, outcome.reason


@pytest.mark.parametrize("kind", list(MsgKind))
def test_a_legal_message_is_taken(empty: System, kind: MsgKind) -> None:
    """R-050, R-051: of every kind, whatever the tables let it carry."""

    @SOME
    @given(KINDS[kind]())
    def taken(sent: WireMessage) -> None:
        found = CODEC.decode(sent.raw)
        assert (found.kind, found.meta.type, found.meta.styp) == (kind, sent.type, sent.styp)
        state, _, reason = fate(empty, sent)
        assert state == {"EROR": "SKIPPED"}.get(sent.type, state)
        assert state in {"SUCCEEDED", "SKIPPED"}, reason
        assert (reason == "unsupported") == (kind is MsgKind.UNSUPPORTED)

    taken()


@given(st.one_of(strategies.schedules(), strategies.adfts(), strategies.flops()))
def test_flights_are_decoded_to_what_was_meant(sent: WireMessage) -> None:
    """R-068, D-14: plain data and XML say the same."""
    body = CODEC.decode(sent.raw).body
    records = body.records if isinstance(body, SchedulePackage) else (body,)
    meant = [flight_record(record, str(record["FLID"])) for record in sent.flights]
    assert list(records) == meant
    if isinstance(body, SchedulePackage):
        assert body.recs == sent.recs


@given(st.one_of(strategies.references(), strategies.resource_statuses()))
def test_reference_records_are_decoded_to_what_was_meant(sent: WireMessage) -> None:
    """R-421, D-40: the whole tree."""
    assert CODEC.decode(sent.raw).body == ReferencePackage(sent.recs, sent.records)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_a_broken_message_ends_as_its_name_says(empty: System, name: str) -> None:
    """D-12, D-25, R-064, R-067: code and reason of the closed list."""

    @SOME
    @given(strategies.broken([name]))
    def ends(sent: WireMessage) -> None:
        assert sent.fault is not None
        assert sent.fault.name == name
        assert fate(empty, sent) == ("DEAD", sent.fault.code, sent.fault.reason)

    ends()


@pytest.mark.parametrize("name", sorted(UNDER_DAYS))
def test_coverage_asks_for_more(asking: System, name: str) -> None:
    """D-11, D-12: with whole days covered each record lies in them, by its `SODT`."""

    @SOME
    @given(strategies.broken([name]))
    def ends(sent: WireMessage) -> None:
        assert sent.fault is not None
        assert fate(asking, sent) == ("DEAD", sent.fault.code, sent.fault.reason)

    ends()


@pytest.mark.parametrize("name", sorted(ODDITIES))
def test_an_odd_message_is_taken_all_the_same(empty: System, name: str) -> None:
    """D-14, D-19, H-11: unknown tags, bad optional values, long routes, any layout."""

    @SOME
    @given(strategies.broken([name]))
    def taken(sent: WireMessage) -> None:
        assert sent.fault is not None
        assert (sent.fault.name, sent.fault.code) == (name, None)
        assert fate(empty, sent)[0] in {"SUCCEEDED", "SKIPPED"}

    taken()


@given(st.data())
def test_a_schedule_keeps_the_promise_of_its_coverage(data: st.DataObject) -> None:
    """D-11: the days of the records, or the instants between which they lie."""
    days = Days(frozenset({date(2027, 3, 14), date(2027, 3, 16)}))
    whole = data.draw(strategies.schedules(days))
    assert whole.styp == "RESP"
    assert {str(record["SODT"])[:7] for record in whole.flights} <= {"14MAR27", "16MAR27"}
    within = data.draw(strategies.schedules(Interval(NOW, NOW.replace(hour=7))))
    assert within.styp == "DNLD"
    assert {str(record["SODT"])[:9] for record in within.flights} <= {"14MAR2706", "14MAR2707"}
    assert data.draw(strategies.schedules(Nothing())).styp == "DNLD"


@settings(max_examples=3)
@given(st.data())
def test_nothing_of_the_tables_is_left_out(data: st.DataObject) -> None:
    """R-211, D-18, R-411: there are values of every tag, messages of every `FLOP` row and every category."""
    for tag in MODEL_TAGS:
        assert data.draw(strategies.values(tag))
    for styp, row in FLOP_ROWS.items():
        (content,) = data.draw(strategies.flops([styp])).flights
        assert set(content) & set(row.tags)
    for rtype, category in CATEGORIES.items():
        sent = data.draw(strategies.references([rtype]))
        assert all(record.value(category.key) for record in sent.records)


WITHOUT_HYPOTHESIS = """
import sys
sys.modules["hypothesis"] = None
import msgx_core, msgx_core.testing, msgx_core.testing.wire
try:
    import msgx_core.testing.strategies
except ImportError as error:
    print(error)
"""


def test_nothing_but_the_strategies_needs_hypothesis() -> None:
    """house rules: an optional dependency that is missing is named with its remedy."""
    found = subprocess.run(
        [sys.executable, "-c", WITHOUT_HYPOTHESIS], capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout.strip() == (
        "msgx_core.testing.strategies needs hypothesis: pip install 'msgx[testing]'"
    )
