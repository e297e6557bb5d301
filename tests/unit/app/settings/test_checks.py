"""Rules between settings."""

from __future__ import annotations

import pytest

from msgx_app.settings import KNOWN_STYPS, ConfigProblems, load_settings

CODE = {"msgx.airport.code": "PVG"}
TOKEN = "board:reader:" + "0" * 64


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"pipeline.max-attempts": "9"}, "8 for 9 attempts; it has 7"),
        ({"pipeline.backoff": "1s"}, "one step fewer than msgx.pipeline.max-attempts: 7"),
        ({"event.backoff": "1s"}, "one step fewer than msgx.event.max-attempts: 7"),
        ({"pipeline.overdue-backfill": "32d"}, "at most msgx.pipeline.inbox-retention, which is 31d"),
        ({"pipeline.poll-interval": "3s"}, "at most msgx.pipeline.poll-interval-idle, which is 2s"),
        ({"lease.renew": "3s"}, "must be below msgx.lease.expiry, which is 3s"),
        ({"schd.records-per-message": "201"}, "at most msgx.schd.flush-limit, which is 200"),
        ({"flop.whitelist": "GTDT QQQQ"}, "only known FLOP sub-types, not QQQQ; they are: ABTM"),
        ({"flop.whitelist": "FDEL"}, "FDEL always passes"),
        ({"kafka.topic.msg": "KAFKA_SCHD"}, "must not be the name of msgx.kafka.topic.schd too"),
    ],
)
def test_broken_rules(given: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigProblems) as caught:
        load_settings(None, {}, {**CODE, **{f"msgx.{key}": value for key, value in given.items()}})
    (problem,) = caught.value.found
    assert said in problem.legal


@pytest.mark.parametrize(
    "given",
    [
        {"pipeline.max-attempts": "1", "pipeline.backoff": ""},
        {"event.max-attempts": "3", "event.backoff": "1s 2s"},
        {"pipeline.overdue-backfill": "31d"},
        {"pipeline.poll-interval": "2s"},
        {"lease.renew": "2999ms"},
        {"flop.whitelist": "extended"},
        {"flop.whitelist": " ".join(KNOWN_STYPS)},
        {"http.bind": "0.0.0.0:8080", "http.tokens": TOKEN},
        {"http.bind": "0.0.0.0:8080"},
        {"http.bind": "[::1]:8080"},
        {"http.bind": "off"},
    ],
)
def test_kept_rules(given: dict[str, str]) -> None:
    over = {**CODE, **{f"msgx.{key}": value for key, value in given.items()}}
    assert load_settings(None, {}, over).settings.airport.code == "PVG"


def test_the_known_sub_types_are_the_callers() -> None:
    over = {**CODE, "msgx.flop.whitelist": "QQQQ"}
    loaded = load_settings(None, {}, over, known_styps=KNOWN_STYPS | {"QQQQ"})
    assert loaded.settings.flop.whitelist.styps == {"QQQQ"}


def test_rules_wait_for_legal_values_and_others_go_on() -> None:
    over = {**CODE, "msgx.pipeline.backoff": "x", "msgx.pipeline.max-attempts": "3", "msgx.lease.renew": "4s"}
    with pytest.raises(ConfigProblems) as caught:
        load_settings(None, {}, over)
    assert [problem.key for problem in caught.value.found] == ["msgx.pipeline.backoff", "msgx.lease.renew"]
