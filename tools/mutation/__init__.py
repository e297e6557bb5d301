"""Mutation testing of the rules and the state machines: `make mutate`, `docs/mutation.md`."""
