"""What every history store does (IMP §9.3, D-33).

class TestMyHistory(HistoryContract):
    @pytest.fixture
    def server(self): ...
    @pytest.fixture
    def history(self, server): ...
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any, Protocol

import pytest

from msgx_core.errors import Transient
from msgx_core.ports import History, HistoryRecord
from msgx_core.testing.builders import DAY, NOW, later
from msgx_core.testing.contract import Contract


class HistoryHarness(Protocol):
    """The history store seen and disturbed by other means than the adapter."""

    def records(self) -> Mapping[tuple[int, int], Mapping[str, Any]]:
        """By FLID and version: `FLID`, `STATE_VERSION`, `OPERATION_DAY`, `ENDED_AT`, `FLIGHT`, parsed."""
        ...

    def outage(self) -> AbstractContextManager[None]:
        """Nothing answers while the body runs."""
        ...


def record(
    flid: int, version: int = 1, *, ended_at: datetime = NOW, day: date | None = DAY, **document: Any
) -> HistoryRecord:
    """A record whose document tells flight and version."""
    text = json.dumps({"FLID": flid, "STATE_VERSION": version, **document}, ensure_ascii=False)
    return HistoryRecord(flid, version, day, ended_at, text)


class HistoryContract(Contract):
    """`ports.History`."""

    def test_what_is_written_is_confirmed_and_kept_whole(
        self, history: History, server: HistoryHarness
    ) -> None:
        """R-389: the FLIDs that are surely kept; text as it is, with day and moment."""
        written = [record(1, REMC="取消", GTDT=[{"GATE": "A1"}]), record(2, 7, day=None)]
        assert set(history.write(written)) == {1, 2}
        kept = server.records()
        assert kept.keys() == {(1, 1), (2, 7)}
        assert kept[1, 1]["FLIGHT"] == json.loads(written[0].document)
        assert (kept[1, 1]["FLID"], kept[1, 1]["STATE_VERSION"]) == (1, 1)
        assert datetime.fromisoformat(kept[1, 1]["ENDED_AT"]) == NOW
        assert (kept[1, 1]["OPERATION_DAY"], kept[2, 7]["OPERATION_DAY"]) == (DAY.isoformat(), None)

    def test_writing_again_replaces(self, history: History, server: HistoryHarness) -> None:
        """D-33: idempotent by FLID and version; another version is another record."""
        history.write([record(1, REMC="a"), record(1, 2, REMC="b")])
        assert set(history.write([record(1, REMC="c")])) == {1}
        kept = server.records()
        assert {key: value["FLIGHT"]["REMC"] for key, value in kept.items()} == {(1, 1): "c", (1, 2): "b"}

    def test_nothing_to_write_is_nothing_to_do(self, history: History, server: HistoryHarness) -> None:
        """R-391: an empty success set."""
        assert set(history.write([])) == set()
        assert server.records() == {}

    @pytest.mark.parametrize("document", ["", "{", "[]", "7", '{"A":NaN}', '{"A":"\ud800"}'])
    def test_a_bad_record_harms_no_other(
        self, history: History, server: HistoryHarness, document: str
    ) -> None:
        """D-26: what cannot be kept is not confirmed, the rest is."""
        bad = HistoryRecord(2, 1, DAY, NOW, document)
        assert set(history.write([record(1), bad, record(3)])) == {1, 3}
        assert server.records().keys() == {(1, 1), (3, 1)}

    def test_many_at_once(self, history: History, server: HistoryHarness) -> None:
        """R-389: as many as a page of the sweep, some of them large."""
        written = [record(n, REMC="航" * (20_000 if n % 50 == 0 else 10)) for n in range(1, 301)]
        assert set(history.write(written)) == set(range(1, 301))
        assert len(server.records()) == 300

    def test_an_outage_confirms_nothing(self, history: History, server: HistoryHarness) -> None:
        """R-390, R-395: `Transient`; afterwards it works again."""
        with server.outage():
            with pytest.raises(Transient) as caught:
                history.write([record(1)])
            assert caught.value.service == "history"
            with pytest.raises(Transient):
                history.ping()
            with pytest.raises(Transient):
                history.remove_before(NOW)
            with pytest.raises(Transient):
                history.count_before(NOW)
        history.ping()
        assert set(history.write([record(1)])) == {1}

    def test_old_records_leave(self, history: History, server: HistoryHarness) -> None:
        """R-399: by the moment at which the flight ended, to the microsecond."""
        history.write(
            [record(1, ended_at=later(-90_000)), record(2, ended_at=later(-1)), record(3), record(4, 2)]
        )
        history.write([record(5, ended_at=later(90_000))])
        assert history.count_before(NOW) == 2
        assert len(server.records()) == 5, "counting removes nothing"
        assert history.remove_before(NOW) == 2
        assert server.records().keys() == {(3, 1), (4, 2), (5, 1)}
        assert history.count_before(NOW) == history.remove_before(NOW) == 0
        assert set(history.write([record(1, ended_at=later(-90_000))])) == {1}

    def test_nothing_is_there_to_leave(self, history: History) -> None:
        """R-399: also before anything was written."""
        assert history.count_before(NOW) == 0
        assert history.remove_before(NOW) == 0

    def test_closed_it_answers_no_more(self, history: History) -> None:
        """`close` may be called twice."""
        history.close()
        history.close()
        with pytest.raises(Transient):
            history.write([record(1)])
