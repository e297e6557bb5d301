"""Base of the contract suites: a subclass brings fixtures and may not change what is tested."""

from __future__ import annotations


class Contract:
    """A suite that every adapter of a port passes unchanged.

    A subclass of a suite supplies its fixtures; overriding a `test_*` of the suite is refused when the class
    is made.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherited = {name for base in cls.__mro__[1:] for name in vars(base) if name.startswith("test_")}
        overridden = sorted(inherited.intersection(vars(cls)))
        if overridden:
            raise TypeError(f"{cls.__name__} overrides the contract: {', '.join(overridden)}")
