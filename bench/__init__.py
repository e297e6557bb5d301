"""Benchmarks: how fast msgx is beside what the same machine could do at best, and beside its peers."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORT = ROOT / "tests" / "support"

# The private servers are those of the tests.
if str(SUPPORT) not in sys.path:
    sys.path.append(str(SUPPORT))
