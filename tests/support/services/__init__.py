"""Servers for tests: one named in the environment, one on loopback, a private one, or a named skip."""
