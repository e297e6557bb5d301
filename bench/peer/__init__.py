"""Peers: the same messages through other durable engines, each in a process of its own."""
