"""What needs somebody: from the status and the open alerts, the worst first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from msgx_app.answers.advice import load_advice
from msgx_app.answers.situations import PILING, Situation, by_code, situations

NOW = datetime(2027, 3, 14, 6, 0, tzinfo=UTC)
UP = {"SERVICE": "cache", "URL": "memory:", "OK": True}
CALM: dict[str, Any] = {
    "SERVICES": [UP],
    "INSTANCE": {"PHASE": "ACTIVE", "DETAIL": None, "LOOPS": [{"LOOP": "pump", "PROBLEM": None}]},
    "LEASE": {"HELD": True, "HOLDER": "a"},
    "HEAD": None,
    "MESSAGES": {"SUCCEEDED": 7},
    "WRITEBACK": {"PENDING": 3, "ABANDONED": 0},
    "OUTBOX": {"KAFKA:msg": {"SENT": 7, "PENDING": 1}},
    "OLDEST_UNSENT": {"KAFKA:msg": {"AT": NOW, "AGE_S": 2.0}},
}


def told(alerts: list[dict[str, Any]] | None = None, lately: int = 0, **changed: Any) -> list[Situation]:
    return situations({**CALM, **changed}, alerts or [], lately)


def names(found: list[Situation]) -> list[str]:
    return [each.name for each in found]


def head(state: str, age_s: float) -> dict[str, Any]:
    return {"MSG_ID": 5, "STATE": state, "AGE_S": age_s, "ATTEMPTS": 3, "REASON": "cache-rejected"}


def test_all_is_well() -> None:
    assert told() == []


def test_every_situation_has_advice() -> None:
    """Also the ones at their bounds; and the worst comes first."""
    down = {"SERVICE": "bus", "URL": "", "OK": False, "ERROR": "refused"}
    instance = {"PHASE": "STANDBY", "DETAIL": "a", "LOOPS": [{"LOOP": "pump", "PROBLEM": "boom"}]}
    alerts = [
        {"CODE": "ROSTER_DAY_MISMATCH", "CREATED_AT": NOW, "MSG_ID": 4},
        {"CODE": "SAME_FLID_ACROSS_OPERATION_DAYS", "CREATED_AT": NOW},
    ]
    found = told(
        alerts,
        SERVICES=[UP, down],
        INSTANCE=instance,
        HEAD=head("PENDING", 61.0),
        MESSAGES={"DEAD": 2},
        WRITEBACK={"PENDING": 1001, "ABANDONED": 1},
        OUTBOX={"KAFKA:msg": {"DEAD": 1}},
        OLDEST_UNSENT={"KAFKA:msg": {"AT": NOW, "AGE_S": 121.0}},
    )
    found += told(lately=PILING + 1, HEAD=head("FAILED", 1.0), MESSAGES={"DEAD": 20})
    found += told(LEASE={"HELD": False, "HOLDER": None}, INSTANCE={**instance, "PHASE": "WAITING"})
    advice = load_advice()
    assert [each.name for each in found if advice.of(each.kind, each.name, "en") is None] == []
    assert {each.name for each in found if each.kind == "situation"} == set(advice.texts["situation"])
    tones = [each.tone for each in told(alerts, SERVICES=[down], INSTANCE=instance, MESSAGES={"DEAD": 1})]
    assert tones == sorted(tones, key=("bad", "warn", "info").index)
    assert tones[-1] == "info"


def test_a_waiting_head_is_nothing_as_long_as_it_is_young() -> None:
    assert told(HEAD=head("PENDING", 59.0)) == []
    assert names(told(HEAD=head("FAILED", 1.0))) == ["head-stuck"]


def test_a_loop_that_waits_for_a_service_that_is_named_is_not_named_twice() -> None:
    loops = [{"LOOP": "pump", "PROBLEM": "cache does not answer: refused"}]
    instance = {"PHASE": "ACTIVE", "DETAIL": None, "LOOPS": loops}
    down = {"SERVICE": "cache", "URL": "", "OK": False, "OUTAGE": {"SINCE": NOW, "DETAIL": "refused"}}
    assert names(told(INSTANCE=instance, SERVICES=[down])) == ["cache"]
    assert names(told(INSTANCE=instance)) == ["loop-problem"]


def test_without_a_store_there_are_the_services_alone() -> None:
    down = {"SERVICE": "store", "URL": "", "OK": False, "ERROR": "gone"}
    status = {"SERVICES": [down], "INSTANCE": CALM["INSTANCE"]}
    assert names(situations(status, [], 0)) == ["store"]


def test_alerts_by_code() -> None:
    rows = [{"CODE": code, "ALERT_ID": n} for n, code in enumerate(("EMPTY", "BAD_VALUE", "BAD_VALUE"))]
    assert by_code(rows) == [("BAD_VALUE", 2, rows[2]), ("EMPTY", 1, rows[0])]
