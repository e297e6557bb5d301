"""Jobs for the lease holder (D-34)."""

from __future__ import annotations

import enum

from msgx_core.model.job import JobState
from msgx_core.states.machine import Machine, rows


class JobEvent(enum.Enum):
    """What can happen to a job. It is begun again after an outage, or when its holder is gone."""

    START = "start"
    SUCCEED = "succeed"
    FAIL = "fail"


_S = JobState

JOB: Machine[JobState, JobEvent] = Machine(
    name="job",
    initial=frozenset({_S.PENDING}),
    terminal=frozenset({_S.DONE, _S.FAILED}),
    transitions=(
        *rows("D-34", JobEvent.START, ((_S.PENDING, _S.RUNNING), (_S.RUNNING, _S.RUNNING))),
        *rows("D-34", JobEvent.SUCCEED, ((_S.RUNNING, _S.DONE),)),
        *rows("D-34", JobEvent.FAIL, ((_S.RUNNING, _S.FAILED),)),
    ),
)
