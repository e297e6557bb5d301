"""Hypothesis profiles: `ci` gives the same short run each time, `deep` a random and long one."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.register_profile("deep", derandomize=False, deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile(os.environ.get("MSGX_PROFILE", "ci"))
