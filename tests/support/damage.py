"""A small past with something in every table that verification reads, for stores that are damaged by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from msgx_core.model.schedule import DnldCoverage
from msgx_core.pipeline.pipeline import Pipeline, PipelineConfig
from msgx_core.ports.operations import Audit
from msgx_core.rules.policy import Policy
from msgx_core.testing.clock import ManualClock
from wire import adft, fdel, flop, fltr, gate, message, reference, schedule

DAYS = PipelineConfig(policy=Policy(dnld_coverage=DnldCoverage.SINGLE_DAY))
WHO = Audit("test", "so that there is something to read")
ALONE = 5
"""A flight that hangs on nothing: a change of it is found whatever is damaged elsewhere."""


def fill(pipeline: Pipeline, clock: ManualClock, send: Callable[[list[bytes]], object]) -> None:
    """Flights live, archived, and archived and back; a covered day, reference data, raised versions.

    The pipeline is started and sweeps into a history store.
    """
    for batch in _batches(pipeline, clock):
        clock.advance(60)
        send(batch)
        pipeline.drain()


def _batches(pipeline: Pipeline, clock: ManualClock) -> Iterator[list[bytes]]:
    late = "20MAR270805"
    pipeline.store.record("republish", 0, None, WHO, clock.now())
    yield [schedule("DNLD", [fltr(3)])]
    route = '<ROUT RTNO="1"><APCD>PEK</APCD></ROUT><ROUT RTNO="2"><APCD>SHA</APCD></ROUT>'
    first = fltr(1, late, SRVT="<A/>").replace("</FLTR>", f"{route}{gate('B1')}</FLTR>")
    yield [
        schedule("DNLD", [first, fltr(2, late, MAID="1"), fltr(4, late), fltr(ALONE, late)]),
        fdel(4),
        reference("GLST", "DNLD", ["<GCOD>A1</GCOD>"]),
    ]
    clock.advance(timedelta(days=3))
    assert pipeline.sweep.run().archived >= 2
    pipeline.store.raise_versions(10, WHO, clock.now())
    clock.advance(1)
    yield [adft(fltr(3, late)), flop(1, "GTDT", gate("A1")), message("NOPE", "X", "")]
