"""Rules: pure functions from what was read to what shall be written. No clock, no I/O."""
