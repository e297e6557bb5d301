"""Who may be replayed, by state, code and reason."""

import pytest

from msgx_core.model.proc import MessageState
from msgx_core.rules.replay import replay_refusal

DEAD, FAILED = MessageState.DEAD, MessageState.FAILED


@pytest.mark.parametrize("state", [DEAD, FAILED])
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("CODEC_ERROR", "codec-exception:KeyError"),
        ("INFRA", "store-rejected:22001"),
        ("PROTOCOL", "recs-mismatch:1!=2"),
        ("EXHAUSTED", "attempts-exhausted"),
        ("MALFORMED", "raw-missing"),
    ],
)
def test_what_may_get_better_may_be_replayed(state: MessageState, code: str, reason: str) -> None:
    """R-119, D-25, R-120: the whitelist."""
    assert replay_refusal(state, code, reason, force=False) is None


@pytest.mark.parametrize("reason", ["not-well-formed", "bad-time:ESTT", "raw-missing:x", None])
def test_the_malformed_need_force(reason: str | None) -> None:
    """R-119, D-25: only `raw-missing`, or an operator who knows better."""
    refusal = replay_refusal(DEAD, "MALFORMED", reason, force=False)
    assert refusal is not None
    assert "MALFORMED" in refusal
    assert replay_refusal(DEAD, "MALFORMED", reason, force=True) is None


@pytest.mark.parametrize("state", [MessageState.PENDING, MessageState.SUCCEEDED, MessageState.SKIPPED])
@pytest.mark.parametrize("force", [True, False])
def test_other_states_are_refused_even_with_force(state: MessageState, force: bool) -> None:
    """D-25: refused for `PENDING`, `SUCCEEDED`, `SKIPPED`; the text names the state."""
    refusal = replay_refusal(state, "INFRA", "x", force=force)
    assert refusal is not None
    assert refusal.startswith(state.value)


@pytest.mark.parametrize("code", [None, "", "OTHER"])
def test_an_unknown_code_is_not_on_the_list(code: str | None) -> None:
    """D-25: a whitelist, not a blacklist."""
    assert replay_refusal(DEAD, code, None, force=False) is not None
