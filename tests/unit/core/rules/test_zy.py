import sys

from tests.unit.core.build import X


def test_x() -> None:
    assert X == 1
    print(sys.path, sys.modules["tests"].__path__)
