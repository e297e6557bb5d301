"""Every alert, service and reason has words for people at night: what, why, what to do."""

from __future__ import annotations

import pytest

from msgx_app.answers.advice import load_advice
from msgx_core.model.alert import AlertCode
from msgx_core.rules.sources import REASONS

ADVICE = load_advice()
SERVICES = ("store", "mailbox", "cache", "bus", "archive", "history")


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("alert", {code.value for code in AlertCode}),
        ("service", set(SERVICES)),
        ("reason", set(REASONS)),
        ("request", {"timeout", "replaced", "eror", "send-lost"}),
        ("flag", {"DAY_MISMATCH"}),
    ],
)
def test_nothing_lacks_advice_and_none_is_about_nothing(kind: str, wanted: set[str]) -> None:
    assert set(ADVICE.texts[kind]) == wanted


def test_a_reason_is_found_whatever_follows_its_colon() -> None:
    found = ADVICE.of_reason("recs-mismatch:3!=2", "en")
    assert found is not None
    assert found == ADVICE.of("reason", "recs-mismatch", "en")
    assert found.anchor == "reason-recs-mismatch"
    assert ADVICE.of_reason(None, "en") is None
    assert ADVICE.of_reason("never heard of", "en") is None


def test_a_language_that_is_not_there_falls_back() -> None:
    assert ADVICE.of("service", "cache", "fr") == ADVICE.of("service", "cache", "en")
    assert ADVICE.of("service", "cache", "zh") != ADVICE.of("service", "cache", "en")
