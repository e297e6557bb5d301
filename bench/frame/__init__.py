"""What all benchmarks share: servers, messages, rounds, targets, the report."""
