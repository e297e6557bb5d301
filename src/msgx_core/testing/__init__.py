"""Contract suites, one per port: check your own adapter with pytest by subclassing one of them.

Needs pytest; nothing else in `msgx_core` imports this package.
"""
