"""Which test shows which rule: `docs/requirements.md` from the rules' texts and the tests' docstrings."""
