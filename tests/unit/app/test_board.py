"""A flight as a line of a board: what is going on, how late it is, and in which zone."""

from __future__ import annotations

from datetime import date

import pytest

from msgx_app.answers.board import DOINGS, doing_of, line_of
from msgx_app.container import policy_of
from msgx_app.http.console.words import load_words
from msgx_app.settings import load_settings
from msgx_core.model.flight import FieldValue
from msgx_core.rules.policy import Policy
from msgx_core.testing.builders import flight

ARRIVAL = {"MVIN": "A", "SODT": "14MAR271000"}
DEPARTURE = {"MVIN": "D", "SODT": "14MAR271000"}


def policy_in(zone: str) -> Policy:
    given = {
        "msgx.airport.code": "KMG",
        "msgx.airport.timezone": zone,
        "msgx.mailbox.url": "memory:",
        "msgx.store.url": "memory:",
        "msgx.cache.url": "memory:",
        "msgx.bus.url": "memory:",
    }
    return policy_of(load_settings(None, {}, given).settings)


@pytest.mark.parametrize(
    ("fields", "doing"),
    [
        (ARRIVAL, ""),
        ({**ARRIVAL, "APPT": "14MAR270930"}, "approaching"),
        ({**ARRIVAL, "APPT": "14MAR270930", "FINT": "14MAR270950"}, "final-approach"),
        ({**ARRIVAL, "FINT": "14MAR270950", "ACTT": "14MAR270959"}, "landed"),
        ({**ARRIVAL, "ACTT": "14MAR270959", "CLDT": ({"BELT": "1", "FBAG": "14MAR271010"},)}, "bags-on-belt"),
        ({**ARRIVAL, "CLDT": ({"FBAG": "14MAR271010", "LBAG": "14MAR271030"},)}, "bags-delivered"),
        ({**ARRIVAL, "CNCL": "14MAR270900", "ACTT": "14MAR270959"}, "cancelled"),
        ({**ARRIVAL, "FDIV": {"DDES": "KWL"}}, "diverted"),
        ({**DEPARTURE, "FRET": {"REID": "1"}}, "returned"),
        ({**DEPARTURE, "CKDT": ({"COTM": "14MAR270800"},)}, "check-in-open"),
        ({**DEPARTURE, "DELY": ({"CODE": "93"},), "CKDT": ({"COTM": "14MAR270800"},)}, "delayed"),
        ({**DEPARTURE, "DELY": ({"CODE": "93"},), "CKDT": ({"CCTM": "14MAR270900"},)}, "check-in-closed"),
        ({**DEPARTURE, "GTDT": ({"GATE": "B1", "GOTM": "14MAR270900"},)}, "gate-open"),
        ({**DEPARTURE, "BOTM": "14MAR270930", "GTDT": ({"GOTM": "14MAR270900"},)}, "boarding"),
        ({**DEPARTURE, "BOTM": "14MAR270930", "LACL": "14MAR270945"}, "last-call"),
        ({**DEPARTURE, "LACL": "14MAR270945", "GTDT": ({"GCTM": "14MAR270950"},)}, "gate-closed"),
        ({**DEPARTURE, "GTDT": ({"GCTM": "14MAR270950"},), "ACTT": "14MAR271005"}, "departed"),
        ({**DEPARTURE, "GTDT": ({"GCTM": ""},)}, ""),
    ],
)
def test_what_is_going_on_is_the_last_that_happened(fields: dict[str, FieldValue], doing: str) -> None:
    """D-20: from what is there, nothing stored."""
    assert doing_of(flight(7, fields=fields))[0] == doing


def test_all_that_may_go_on_has_a_name_in_both_languages() -> None:
    for words in load_words().values():
        assert [each for each in DOINGS if words.name("doing", each) == each] == []


@pytest.mark.parametrize(
    ("fields", "late"),
    [
        ({"SODT": "14MAR271000"}, None),
        ({"SODT": "14MAR271000", "ESTT": "14MAR271025"}, 25),
        ({"SODT": "14MAR271000", "ESTT": "14MAR271025", "ACTT": "14MAR270955"}, -5),
        ({"SODT": "14MAR272350", "ACTT": "15MAR270010"}, 20),
        ({"SODT": "14MAR271000", "DELY": ({"DURA": "0115"}, {"DURA": "0010"})}, 85),
        ({"SODT": "14MAR271000", "DELY": ({"DURA": "x"}, {"CODE": "93"})}, None),
        ({"DELY": ({"DURA": "0010"},), "ACTT": "14MAR271005"}, 10),
        ({"SODT": "odd", "ESTT": "14MAR271025"}, None),
    ],
)
def test_how_late_it_is(fields: dict[str, FieldValue], late: int | None) -> None:
    """By the times that are known, or else as `DELY` says."""
    assert line_of(flight(7, fields=fields), policy_in("Asia/Shanghai")).delay_min == late


def test_a_delay_over_the_night_on_which_clocks_change() -> None:
    """Central Europe, 28 March 2027: 01:30 and 03:30 are an hour apart."""
    fields: dict[str, FieldValue] = {"SODT": "28MAR270130", "ESTT": "28MAR270330"}
    line = line_of(flight(7, day=date(2027, 3, 28), fields=fields), policy_in("Europe/Berlin"))
    assert line.delay_min == 60
    assert line.planned is not None
    assert f"{line.planned:%H:%M %z}" == "01:30 +0100"


def test_a_deleted_flight_is_deleted_whatever_else_it_is() -> None:
    line = line_of(flight(7, deleted=True, MVIN="A", CNCL="14MAR270900"), policy_in("Asia/Shanghai"))
    assert (line.doing, line.tone) == ("deleted", "done")
