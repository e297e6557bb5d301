"""Adapters: one family for each role and technology, each behind a port of the core."""
