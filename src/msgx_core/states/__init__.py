"""State machines as tables; reachability and legality are checked, not assumed."""
