"""Ten deliberate faults, and a script that plants them one at a time."""
