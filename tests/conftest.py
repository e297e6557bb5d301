"""Hypothesis profiles: `ci` gives the same short run each time, `deep` a random and long one.

`mutate` is `ci` that does not look for the smallest example: any failure will do.
"""

import os
import signal

import pytest
from hypothesis import Phase, settings

pytest.register_assert_rewrite("msgx_core.testing", "tests.proof")

# A run in the background ignores Ctrl-C, and so would the programs that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.register_profile("deep", derandomize=False, deadline=None, max_examples=2_000, print_blob=True)
settings.register_profile(
    "mutate", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate), print_blob=False
)
settings.load_profile(os.environ.get("MSGX_PROFILE", "ci"))
