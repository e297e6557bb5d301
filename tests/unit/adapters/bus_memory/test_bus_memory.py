"""What is particular to the bus in memory."""

import pytest

from msgx_adapters.bus_memory import MemoryBus
from msgx_core.errors import Transient
from msgx_core.ports.bus import BusRecord, Delivery

MSG = BusRecord("msg", "1", b'{"n":1}')
SCHD = BusRecord("schd", None, b"{}")


def test_it_refuses_on_demand() -> None:
    """D-28: for tests of dead events."""
    bus = MemoryBus(max_bytes=10, refuse=lambda record: "refused:acl" if record.topic == "schd" else None)
    assert bus.publish([MSG, SCHD, MSG]) == [Delivery(), Delivery("refused:acl"), Delivery()]
    bus.refuse = None
    assert bus.publish([SCHD, BusRecord("msg", "1", b"x" * 11)]) == [Delivery(), Delivery("too-large")]
    assert bus.records == [MSG, MSG, SCHD]
    assert (bus.of("msg"), bus.of("schd")) == ((MSG, MSG), (SCHD,))


@pytest.mark.parametrize("value", [b"", b"NaN", b"\xff"])
def test_what_is_no_json_is_refused(value: bytes) -> None:
    assert MemoryBus().publish([BusRecord("msg", "1", value)]) == [Delivery("refused:not-json")]


def test_a_closed_bus_does_not_answer() -> None:
    bus = MemoryBus()
    bus.close()
    with pytest.raises(Transient, match="closed"):
        bus.publish([MSG])
