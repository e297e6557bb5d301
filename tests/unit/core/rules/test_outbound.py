"""Outbound messages: well-formed, read by our own codec, and bounds that are the operation days."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from msgx_adapters.codec_lxml import LxmlCodec
from msgx_core.model.message import Meta, MsgKind
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.rules.operation_day import instant_of, operation_day
from msgx_core.rules.outbound import asked_window, is_same_request, request_text
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time
from tests.unit.core.build import NOW

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")
DAY = date(2021, 1, 23)
AT = datetime(2021, 1, 22, 21, 35, tzinfo=UTC)
HOME = Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI)
SCHEDULE = Request(
    1, RequestSlot.RQFD, RequestState.PENDING, NOW, "17", first_day=DAY, last_day=DAY, send_started_at=AT
)
GATES = Request(2, RequestSlot.RQRD, RequestState.PENDING, NOW, "18", "GLST", send_started_at=AT)
MINUTE = timedelta(minutes=1)

senders = st.from_regex(r"[A-Za-z0-9_.<>&'\"-]{1,20}", fullmatch=True)
days = st.dates(date(2000, 1, 3), date(2099, 12, 29))
policies = st.builds(
    lambda zone, sis, hour, minute: Policy(
        airport_zone=zone, sis_zone=sis or zone, day_cutover=time(hour, minute)
    ),
    st.sampled_from([SHANGHAI, BERLIN, ZoneInfo("UTC"), ZoneInfo("Asia/Kolkata")]),
    st.sampled_from([None, ZoneInfo("UTC")]),
    st.integers(0, 23),
    st.integers(0, 59),
)


def test_the_form_of_the_wire() -> None:
    """wire.md "Requests we send": META with airport local time, STDB/STDE bound the day."""
    text = request_text(SCHEDULE, "RMS", HOME)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<MSG ')
    assert (
        "<META><SNDR>RMS</SNDR><SEQN>17</SEQN><DTTM>20210123053500</DTTM><TYPE>RQFD</TYPE><STYP>NONE</STYP></META>"
    ) in text
    assert "<RQFD><STDB>23JAN210000</STDB><STDE>23JAN212359</STDE></RQFD></MSG>" in text
    text = request_text(GATES, "RMS", HOME)
    assert "<TYPE>RQRD</TYPE><STYP>GLST</STYP></META>" in text
    assert "<RQRD><RTYP>GLST</RTYP></RQRD></MSG>" in text


def test_the_bounds_include_the_cut_over() -> None:
    """wire.md, D-09: from the cut-over of the first day to the minute before that after the last."""
    policy = evolve(HOME, day_cutover=time(4, 30))
    assert asked_window(DAY, DAY + timedelta(days=2), policy) == ("23JAN210430", "26JAN210429")
    abroad = evolve(HOME, sis_zone=ZoneInfo("UTC"))
    assert asked_window(DAY, DAY, abroad) == ("22JAN211600", "23JAN211559")


def test_when_clocks_change_the_day_is_whole() -> None:
    """D-09: 23 and 25 hours long, written by the clock on the wall."""
    policy = Policy(airport_zone=BERLIN, sis_zone=BERLIN)
    assert asked_window(date(2021, 3, 28), date(2021, 3, 28), policy) == ("28MAR210000", "28MAR212359")
    assert asked_window(date(2021, 10, 31), date(2021, 10, 31), policy) == ("31OCT210000", "31OCT212359")


@given(days, st.integers(0, 40), policies)
def test_bounds_lie_in_the_days_and_their_neighbours_do_not(first: date, more: int, policy: Policy) -> None:
    """D-11, wire.md: STDB is the first minute of the first day, STDE the last one of the last."""
    last = min(first + timedelta(days=more), date(2099, 12, 29))
    stdb, stde = (parse_time(text) for text in asked_window(first, last, policy))
    assert stdb is not None
    assert stde is not None
    begin, end = instant_of(stdb, policy), instant_of(stde, policy)
    assert (operation_day(begin, policy), operation_day(end, policy)) == (first, last)
    assert operation_day(begin - MINUTE, policy) == first - timedelta(days=1)
    # In a repeated hour the wire's time is the first of two; then the day goes on for up to an hour.
    assert operation_day(end + MINUTE, policy) in (last, last + timedelta(days=1))
    assert operation_day(end + MINUTE + timedelta(hours=1), policy) == last + timedelta(days=1)


@given(
    senders, st.integers(1, 10**18 - 1), st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30)), policies
)
def test_our_codec_reads_what_we_write(sender: str, seqn: int, at: datetime, policy: Policy) -> None:
    """D-32: well-formed whatever is in it; META comes back as it was meant, and so do the bounds."""
    request = evolve(SCHEDULE, seqn=str(seqn), send_started_at=at.replace(tzinfo=UTC))
    text = request_text(request, sender, policy)
    message = LxmlCodec().decode(text.encode())
    local = at.replace(tzinfo=UTC).astimezone(policy.airport_zone)
    assert message.meta == Meta(sender, str(seqn), local.strftime("%Y%m%d%H%M%S"), "RQFD", "NONE")
    assert message.kind is MsgKind.UNSUPPORTED
    assert is_same_request(message.meta, request, sender)
    root = etree.fromstring(text.encode())
    bounds = [child.text for child in root[1]]
    assert (root[1].tag, [child.tag for child in root[1]]) == ("RQFD", ["STDB", "STDE"])
    assert tuple(bounds) == asked_window(DAY, DAY, policy)


@pytest.mark.parametrize("rtype", [*CATEGORIES, RSTA])
def test_every_category_can_be_asked_for(rtype: str) -> None:
    """wire.md: STYP and RTYP name the category."""
    text = request_text(evolve(GATES, rtype=rtype), "RMS", HOME)
    root = etree.fromstring(text.encode())
    assert [root.findtext("META/STYP"), root.findtext("RQRD/RTYP")] == [rtype, rtype]
    assert LxmlCodec().decode(text).meta.styp == rtype


@given(st.sampled_from([SCHEDULE, GATES]), senders)
def test_the_same_request_is_the_same_text(request: Request, sender: str) -> None:
    """D-32: nothing but the request, the sender and the choices decide it."""
    assert request_text(request, sender, HOME) == request_text(request, sender, HOME)


@pytest.mark.parametrize(
    "meta",
    [
        Meta("AODB", "17", "20210123053500", "RQFD", "NONE"),
        Meta("RMS", "18", "20210123053500", "RQFD", "NONE"),
        Meta("RMS", "17", "20210123053500", "RQRD", "GLST"),
        Meta("RMS", "017", "20210123053500", "RQFD", "NONE"),
    ],
)
def test_another_message_is_not_ours(meta: Meta) -> None:
    """D-32: the outbound table is shared; sender, number and type have to be ours."""
    assert not is_same_request(meta, SCHEDULE, "RMS")


@pytest.mark.parametrize(
    "bad",
    [
        evolve(SCHEDULE, seqn=None),
        evolve(SCHEDULE, send_started_at=None),
        evolve(SCHEDULE, first_day=None),
        evolve(SCHEDULE, last_day=DAY - timedelta(days=1)),
        evolve(SCHEDULE, first_day=date(1999, 12, 31)),
        evolve(SCHEDULE, last_day=date(2100, 1, 1)),
        evolve(GATES, rtype=None),
    ],
)
def test_what_cannot_be_written_is_refused(bad: Request) -> None:
    """D-32, wire.md (two-digit years are 2000 to 2099): nothing half-made goes out."""
    with pytest.raises(ValueError, match=r"request|before|years"):
        request_text(bad, "RMS", HOME)
