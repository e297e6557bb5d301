"""msgx core: what AODB messages do to flights, reference data and events; no I/O of its own.

The names below are the public surface for embedding; they are loaded when first used.

>>> import msgx_core
>>> meta = msgx_core.Meta("AODB", "8", "20270314060000", "FLOP", "GTDT")
>>> msgx_core.Identity.of(meta).key
'AODB|FLOP|GTDT|8'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from msgx_core.errors import CodecError as CodecError
    from msgx_core.errors import ConfigError as ConfigError
    from msgx_core.errors import Conflict as Conflict
    from msgx_core.errors import Fenced as Fenced
    from msgx_core.errors import Malformed as Malformed
    from msgx_core.errors import MsgxError as MsgxError
    from msgx_core.errors import Protocol as Protocol
    from msgx_core.errors import Rejected as Rejected
    from msgx_core.errors import Transient as Transient
    from msgx_core.model.change import Change as Change
    from msgx_core.model.flight import FlightState as FlightState
    from msgx_core.model.identity import Identity as Identity
    from msgx_core.model.message import DecodedMessage as DecodedMessage
    from msgx_core.model.message import FlightRecord as FlightRecord
    from msgx_core.model.message import Meta as Meta
    from msgx_core.pipeline.pipeline import Extras as Extras
    from msgx_core.pipeline.pipeline import Pipeline as Pipeline
    from msgx_core.pipeline.pipeline import PipelineConfig as PipelineConfig
    from msgx_core.rules.consuming import Held as Held
    from msgx_core.rules.consuming import flights_in as flights_in
    from msgx_core.rules.consuming import is_behind as is_behind
    from msgx_core.rules.consuming import take_flight as take_flight
    from msgx_core.rules.consuming import take_notice as take_notice
    from msgx_core.rules.coverage import check_package as check_package
    from msgx_core.rules.merge import apply_flop as apply_flop
    from msgx_core.rules.merge import merge_adft as merge_adft
    from msgx_core.rules.merge import merge_complete as merge_complete
    from msgx_core.rules.merge import read_flop as read_flop
    from msgx_core.rules.policy import Policy as Policy
    from msgx_core.rules.records import read_record as read_record
    from msgx_core.rules.render import is_newer as is_newer
    from msgx_core.rules.schedule import plan_schedule as plan_schedule

_HOMES = {
    "msgx_core.errors": (
        "CodecError ConfigError Conflict Fenced Malformed MsgxError Protocol Rejected Transient"
    ),
    "msgx_core.model.change": "Change",
    "msgx_core.model.flight": "FlightState",
    "msgx_core.model.identity": "Identity",
    "msgx_core.model.message": "DecodedMessage FlightRecord Meta",
    "msgx_core.pipeline.pipeline": "Extras Pipeline PipelineConfig",
    "msgx_core.rules.consuming": "Held flights_in is_behind take_flight take_notice",
    "msgx_core.rules.coverage": "check_package",
    "msgx_core.rules.merge": "apply_flop merge_adft merge_complete read_flop",
    "msgx_core.rules.policy": "Policy",
    "msgx_core.rules.records": "read_record",
    "msgx_core.rules.render": "is_newer",
    "msgx_core.rules.schedule": "plan_schedule",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
