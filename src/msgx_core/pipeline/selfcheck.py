"""Start-up self-checks: refuse to run on numbers or choices that cannot be right (H-23, R-117, D-23)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgx_core.errors import ConfigError
from msgx_core.model.sis import FLOP_ROWS
from msgx_core.ports.store import PipelineStore
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import POLICY_PIN, policy_digest, policy_text
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy

IDENTITY_PIN = "msgx.identity.include-day-boundary"


def check_numbers(
    policy: Policy, retry: RetryPolicy, event_retry: RetryPolicy, writeback: WritebackPolicy
) -> tuple[str, ...]:
    """Problems that need no service to be seen."""
    unknown = sorted(policy.flop_whitelist - set(FLOP_ROWS))
    named = f"msgx.flop.whitelist: unknown STYP {', '.join(unknown)}"
    return (
        *retry.problems("msgx.pipeline.backoff"),
        *event_retry.problems("msgx.event.backoff"),
        *writeback.problems(),
        *((named,) if unknown else ()),
    )


def pin_identity(store: PipelineStore, policy: Policy) -> None:
    """Keep the identity algorithm with the data; raises `ConfigError` for another choice (R-045)."""
    wanted = str(policy.include_day_boundary).lower()
    held = store.pin(IDENTITY_PIN, wanted)
    if held != wanted:
        raise ConfigError(
            (
                f"{IDENTITY_PIN} = {wanted}, but this store was started with {held};"
                f" the algorithm cannot change under bound identities: set it back to {held}",
            )
        )


def keep_policy(store: PipelineStore, policy: Policy) -> None:
    """Keep the settings of decisions under their digest, which each applied message names (D-36)."""
    store.pin(f"{POLICY_PIN}{policy_digest(policy)}", policy_text(policy))


def check_each(checks: Iterable[Callable[[], None]]) -> None:
    """Run checks of a start; one `ConfigError` with the problems of all."""
    problems: list[str] = []
    for check in checks:
        try:
            check()
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
