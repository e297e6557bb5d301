"""Hypothesis strategies for SIS messages and the values of the core, driven by the tag tables.

Needs hypothesis: `pip install 'msgx[testing]'`. What they are for:

* a codec or a gateway of your own: `messages()` are legal messages of every kind, as plain data with the XML
  that says it; `broken()` are broken ones, each with its name and the error code and reason it must end with;
* rules and stores: `records()`, `fields()`, `flight_states()`, `rosters()`, `due_events()`.

>>> from hypothesis import given
>>> @given(broken(["meta-missing"]))
... def a_message_without_all_of_meta_is_malformed(message):
...     # your_gateway.send(message.raw), then compare its end with
...     assert message.fault.code == "MALFORMED" and message.fault.reason.startswith("meta-missing:")
>>> a_message_without_all_of_meta_is_malformed()
"""

from __future__ import annotations

try:
    import hypothesis as hypothesis
except ModuleNotFoundError as missing:
    raise ImportError(
        "msgx_core.testing.strategies needs hypothesis: pip install 'msgx[testing]'"
    ) from missing

from msgx_core.testing.strategies.breaking import Breakage
from msgx_core.testing.strategies.core_values import (
    ANY_TEXT,
    DAYS,
    INSTANTS,
    any_fields,
    due_events,
    fields,
    flight_states,
    records,
    rosters,
)
from msgx_core.testing.strategies.faults import FAULTS, ODDITIES, UNDER_DAYS, broken
from msgx_core.testing.strategies.legal import (
    UNSUPPORTED,
    adfts,
    error_answers,
    fdels,
    flops,
    messages,
    metas,
    nodes,
    references,
    resource_statuses,
    schedules,
    times_within,
    unsupported,
)
from msgx_core.testing.strategies.raw import raw_records
from msgx_core.testing.strategies.tags import elements, empty, plain_records, plain_tags, values
from msgx_core.testing.strategies.texts import (
    DURATIONS,
    FLIDS,
    ILLEGAL,
    LEGAL,
    TIMES,
    WORDS,
    XML_TEXT,
    wire_time,
)

__all__ = [
    "ANY_TEXT",
    "DAYS",
    "DURATIONS",
    "FAULTS",
    "FLIDS",
    "ILLEGAL",
    "INSTANTS",
    "LEGAL",
    "ODDITIES",
    "TIMES",
    "UNDER_DAYS",
    "UNSUPPORTED",
    "WORDS",
    "XML_TEXT",
    "Breakage",
    "adfts",
    "any_fields",
    "broken",
    "due_events",
    "elements",
    "empty",
    "error_answers",
    "fdels",
    "fields",
    "flight_states",
    "flops",
    "messages",
    "metas",
    "nodes",
    "plain_records",
    "plain_tags",
    "raw_records",
    "records",
    "references",
    "resource_statuses",
    "rosters",
    "schedules",
    "times_within",
    "unsupported",
    "values",
    "wire_time",
]
