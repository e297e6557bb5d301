"""What a decision depended on, as text, kept with each applied message: it can be decided again (D-36).

`PROC_STATE.COVERAGE` is one JSON object: the coverage of a schedule (`days`, or `first` and `last`), `policy`
(the digest of the settings, whose text the store keeps once) and `raw` (the archive key, when an operator put
the text back).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import time, timedelta, tzinfo

from attrs import frozen

from msgx_core.model.schedule import DnldCoverage
from msgx_core.rules.policy import MissingFlight, Policy, TimeFormat

POLICY_PIN = "policy."
GROUNDS = frozenset({"policy", "raw"})
"""Keys of `COVERAGE` beside those of the coverage."""
_DIGEST_CHARS = 12


def policy_text(policy: Policy) -> str:
    """All choices as one line of JSON; equal policies give equal texts.

    >>> policy_text(Policy())[:41]
    '{"airport_zone":"UTC","sis_zone":"UTC","d'
    """
    values = {
        "airport_zone": _zone_text(policy.airport_zone),
        "sis_zone": _zone_text(policy.sis_zone),
        "day_cutover": policy.day_cutover.isoformat(),
        "include_day_boundary": policy.include_day_boundary,
        "flop_whitelist": sorted(policy.flop_whitelist),
        "missing_flight": policy.missing_flight.value,
        "route_max_points": policy.route_max_points,
        "dnld_coverage": policy.dnld_coverage.value,
        "suppress_unchanged": policy.suppress_unchanged,
        "time_format": policy.time_format.value,
        "ref_allow_empty": policy.ref_allow_empty,
        "late_window_s": policy.late_window.total_seconds(),
    }
    return json.dumps(values, separators=(",", ":"))


def parse_policy(text: str, zone_of: Callable[[str], tzinfo]) -> Policy:
    """The reverse; `zone_of` finds a zone by its name. Raises `ValueError` or `KeyError` for other texts."""
    values = json.loads(text)
    return Policy(
        airport_zone=zone_of(values["airport_zone"]),
        sis_zone=zone_of(values["sis_zone"]),
        day_cutover=time.fromisoformat(values["day_cutover"]),
        include_day_boundary=values["include_day_boundary"],
        flop_whitelist=frozenset(values["flop_whitelist"]),
        missing_flight=MissingFlight(values["missing_flight"]),
        route_max_points=values["route_max_points"],
        dnld_coverage=DnldCoverage(values["dnld_coverage"]),
        suppress_unchanged=values["suppress_unchanged"],
        time_format=TimeFormat(values["time_format"]),
        ref_allow_empty=values["ref_allow_empty"],
        late_window=timedelta(seconds=values["late_window_s"]),
    )


def policy_digest(policy: Policy) -> str:
    """A short name of the choices."""
    return text_digest(policy_text(policy))


def text_digest(text: str) -> str:
    """The short name of choices by their text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def _zone_text(zone: tzinfo) -> str:
    key = getattr(zone, "key", None)
    return key if isinstance(key, str) else str(zone)


@frozen
class Grounds:
    """What `COVERAGE` says beside the coverage."""

    policy: str | None = None
    raw: str | None = None


_NO_GROUNDS = Grounds()


def with_grounds(coverage: str | None, policy: str, raw: str | None = None) -> str:
    """The text for `COVERAGE`: short for the messages that have none.

    >>> with_grounds(None, "ab12")
    '{"policy":"ab12"}'
    """
    if raw is None and coverage in (None, "{}"):
        return f'{{"policy":"{policy}"}}'
    more = {"policy": policy} if raw is None else {"policy": policy, "raw": raw}
    return json.dumps({**json.loads(coverage or "{}"), **more}, separators=(",", ":"))


def raw_grounds(key: str) -> str:
    """The text for `COVERAGE` of a message whose text an operator has put back from the archive."""
    return json.dumps({"raw": key}, separators=(",", ":"))


def parse_grounds(text: str | None) -> Grounds:
    """What `COVERAGE` says beside the coverage; nothing for texts of before."""
    if not text:
        return _NO_GROUNDS
    try:
        value = json.loads(text)
    except ValueError:
        return _NO_GROUNDS
    if not isinstance(value, dict):
        return _NO_GROUNDS
    policy, raw = value.get("policy"), value.get("raw")
    return Grounds(policy if isinstance(policy, str) else None, raw if isinstance(raw, str) else None)
