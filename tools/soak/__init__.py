"""The whole gateway on real servers under random faults: `make soak MINUTES=10`."""
