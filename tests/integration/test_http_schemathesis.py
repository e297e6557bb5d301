"""The interface keeps its own description: whatever that lets be asked, and whatever it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import ignored_auth, positive_data_acceptance

from http_room import Room, http_room, settings_of
from msgx_app.http.openapi import described
from msgx_core.model.alert import Alert, AlertCode
from wire import fdel, flop, fltr, gate, reference, schedule

EXAMPLES = 12
# Asked without a token on purpose: this machine needs none.
LEFT_OUT = [ignored_auth]
# Times, days, one of two: rules that a schema cannot say.
WITH_RULES = {
    ("/cminmsgs/send", "post"),
    ("/api/v1/messages", "get"),
    ("/api/v1/flights", "get"),
    ("/api/v1/resources", "get"),
    ("/api/v1/rosters", "get"),
    ("/api/v1/snapshots", "get"),
    ("/api/v1/replay", "post"),
    ("/api/v1/requests", "post"),
    ("/api/v1/writeback/resume", "post"),
}
OPERATIONS = [
    (path, method) for path, methods in described(settings_of())["paths"].items() for method in methods
]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Something of everything is there."""
    with http_room(settings_of(tmp_path_factory.mktemp("http")), active=True) as made:
        made.finish(
            schedule("DNLD", [fltr(1), fltr(2), fltr(3)]),
            flop(1, "GTDT", gate("B12"), seqn=1),
            flop(1, "GTDT", gate("B14"), seqn=1),
            fdel(3),
            reference("AIRL", "ADD", ["<ITOP>MU</ITOP>"]),
            b"<MSG/>",
        )
        made.post("requests", ref="GLST", reason="there")
        made.store.raise_alert(Alert(AlertCode.EROR), made.daemon.container.clock.now())
        yield made


@pytest.fixture(scope="module")
def api(room: Room) -> Any:
    return schemathesis.openapi.from_url(f"{room.client.base_url}/api/v1/openapi.json")


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_as_described(api: Any, path: str, method: str) -> None:
    """No fault, no answer that is not described; what is legal is let in, and nothing else is."""

    more = [positive_data_acceptance] if (path, method) in WITH_RULES else []

    @given(api[path][method].as_strategy())
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    def check(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(excluded_checks=[*LEFT_OUT, *more])

    check()
