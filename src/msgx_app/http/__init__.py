"""The HTTP interface: API, health, metrics, the way in for messages; a thread of the daemon, named http."""
