"""Rules between settings: each is checked as soon as all the values it looks at are legal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from .errors import Problem
from .styps import Whitelist
from .text import text_of


@frozen
class Rule:
    """`test` gets the values of `keys` and says what is wrong, or None; the first key is to blame."""

    keys: tuple[str, ...]
    test: Callable[..., str | None]


def _steps(attempts_key: str) -> Callable[..., str | None]:
    def test(backoff: tuple[object, ...], attempts: int) -> str | None:
        if len(backoff) == attempts - 1:
            return None
        return (
            f"must have one step fewer than {attempts_key}: {attempts - 1} for {attempts} attempts;"
            f" it has {len(backoff)}"
        )

    return test


def _at_most(other_key: str, *, strictly: bool = False) -> Callable[..., str | None]:
    def test(value: Any, other: Any) -> str | None:
        if value < other or (value == other and not strictly):
            return None
        return f"must be {'below' if strictly else 'at most'} {other_key}, which is {text_of(other)}"

    return test


def _topics(msg: str, schd: str) -> str | None:
    if msg != schd:
        return None
    return "must not be the name of msgx.kafka.topic.schd too: the topics differ in content"


def _bounded(*keys: str, strictly: bool = False) -> Rule:
    return Rule(keys, _at_most(keys[1], strictly=strictly))


def rules(known_styps: frozenset[str]) -> tuple[Rule, ...]:
    """All rules between settings; `known_styps` are the sub-types that a whitelist may name."""

    def known(whitelist: Whitelist) -> str | None:
        strange = sorted(whitelist.styps - known_styps)
        if not strange:
            return None
        note = " (FDEL always passes, no whitelist applies to it)" if "FDEL" in strange else ""
        legal = " ".join(sorted(known_styps))
        return f"must name only known FLOP sub-types, not {' '.join(strange)}{note}; they are: {legal}"

    attempts, refusals = "msgx.pipeline.max-attempts", "msgx.event.max-attempts"
    return (
        Rule(("msgx.pipeline.backoff", attempts), _steps(attempts)),
        Rule(("msgx.event.backoff", refusals), _steps(refusals)),
        _bounded("msgx.pipeline.overdue-backfill", "msgx.pipeline.inbox-retention"),
        _bounded("msgx.pipeline.poll-interval", "msgx.pipeline.poll-interval-idle"),
        _bounded("msgx.lease.renew", "msgx.lease.expiry", strictly=True),
        _bounded("msgx.schd.records-per-message", "msgx.schd.flush-limit"),
        Rule(("msgx.flop.whitelist",), known),
        Rule(("msgx.kafka.topic.msg", "msgx.kafka.topic.schd"), _topics),
    )


def check(
    values: Mapping[str, object], origins: Mapping[str, str], known_styps: frozenset[str]
) -> Iterator[Problem]:
    """Every rule that is broken; rules whose values are not all there are passed over."""
    for rule in rules(known_styps):
        if any(key not in values for key in rule.keys):
            continue
        wrong = rule.test(*(values[key] for key in rule.keys))
        if wrong is not None:
            key = rule.keys[0]
            yield Problem(key, text_of(values[key]), origins[key], wrong)
