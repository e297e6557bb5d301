"""Kinds of requests and their answers; what a crash lost is asked for again, as an operator would."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, time, timedelta

from attrs import evolve

from crashing.bench import AIRPORT, Act, Bench, Kind, Phase
from crashing.kinds import BEFORE, DAY, DRAINED, WINDOW, drain, quietly, sends
from crashing.work import WHY
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.pipeline.steps import Step
from wire import error_answer, fltr, reference, schedule

NEXT = DAY + timedelta(days=1)
TIMEOUT = AIRPORT.requests.timeout
LATE = AIRPORT.policy.late_window
SLACK = timedelta(minutes=5)
"""What happens after a crash happens later."""


def asks(first: date = DAY, last: date | None = None, rtype: str | None = None) -> Act:
    """`msgx request`, once."""

    def act(bench: Bench) -> None:
        slot = RequestSlot.RQFD if rtype is None else RequestSlot.RQRD
        now = bench.clock.now()
        days = (first, last or first) if rtype is None else (None, None)
        wanted = Request(0, slot, RequestState.PENDING, now, None, rtype, *days)
        bench.store.create_request(wanted, WHY, now)

    return act


def again(bench: Bench) -> None:
    """Sent; what was lost on the way is asked for again."""
    bench.drain()
    last = bench.store.requests()[0]
    if last.reason == "send-lost":
        now = bench.clock.now()
        wanted = Request(
            0, last.slot, RequestState.PENDING, now, None, last.rtype, last.first_day, last.last_day
        )
        bench.store.create_request(wanted, WHY, now)
        bench.drain()


def asked(first: date = DAY, last: date | None = None, rtype: str | None = None) -> tuple[Phase, Phase]:
    """Asked and sent."""
    return quietly(asks(first, last, rtype)), Phase(again)


def answered(*raws: bytes, wait: timedelta = timedelta(minutes=5)) -> tuple[Phase, Phase]:
    """Messages come in and are worked off."""
    return quietly(sends(*raws), wait), Phase(drain)


EXPIRING = Phase(drain, TIMEOUT + SLACK)
_RESP_ONE = schedule("RESP", [WINDOW[1], WINDOW[6]])
_NEW = [fltr(9, "14MAR271200"), WINDOW[1]]


def _daily(bench: Bench) -> None:
    """The daemon's job, after the intake."""
    pipeline = bench.ready()
    pipeline.intake.scan()
    pipeline.requests.run()


def _begun(bench: Bench) -> None:
    """A process died between the row in the outbound table and the word about it."""
    bench.dies_at(Step.SEND_INSERTED)


def _begun_in_vain(bench: Bench) -> None:
    """A process died before the row came into the outbound table."""
    bench.dies_at(Step.SEND_BEGUN)


REQUESTS: Sequence[Kind] = (
    Kind(
        "RESP for a day, and again",
        (*asked(), *answered(_RESP_ONE), *answered(schedule("RESP", []))),
        BEFORE,
    ),
    Kind("RESP empty", (*asked(), *answered(schedule("RESP", []))), BEFORE),
    Kind("RESP broken", (*asked(), *answered(schedule("RESP", [WINDOW[0]], recs=9))), BEFORE),
    Kind("RESP outside its days", (*asked(), *answered(schedule("RESP", [WINDOW[0], WINDOW[3]]))), BEFORE),
    Kind(
        "RESP for days of which one is empty",
        (*asked(DAY, DAY + timedelta(days=2)), *answered(schedule("RESP", [WINDOW[0], WINDOW[4]]))),
        BEFORE,
    ),
    Kind(
        "RESP late, then in time",
        (*asked(), EXPIRING, *answered(schedule("RESP", _NEW)), *asked(), *answered(_RESP_ONE)),
        BEFORE,
    ),
    Kind(
        "RESP ambiguous",
        (*asked(DAY), EXPIRING, *asked(NEXT), *answered(schedule("RESP", _NEW))),
        BEFORE,
    ),
    Kind(
        "RESP after the late window",
        (
            *asked(DAY),
            EXPIRING,
            quietly(drain, LATE + SLACK),
            *asked(NEXT),
            *answered(schedule("RESP", [WINDOW[4]])),
        ),
        BEFORE,
    ),
    Kind("pushes complete nothing", (*asked(), *answered(schedule("DNLD", WINDOW[:1]))), BEFORE),
    Kind("EROR", (*asked(), *answered(error_answer(ETYP="RQFD", ERCD="E1"))), BEFORE),
    Kind(
        "reference RESP",
        (*asked(rtype="GLST"), *answered(reference("GLST", "RESP", ["<GCOD>B07</GCOD>"]))),
        BEFORE,
    ),
    Kind("sending broken off", (quietly(asks()), quietly(_begun), DRAINED), BEFORE),
    Kind("sending lost", (quietly(asks()), quietly(_begun_in_vain), DRAINED), BEFORE),
    Kind(
        "daily request",
        (Phase(_daily), Phase(again), *answered(schedule("RESP", [WINDOW[4]]))),
        BEFORE,
        evolve(AIRPORT, requests=evolve(AIRPORT.requests, daily_at=time(8, 0))),
    ),
)
