"""Values: what flows between codec, rules, store, cache and bus."""
