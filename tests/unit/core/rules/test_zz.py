from tests.unit.core.build import X


def test_x() -> None:
    assert X == 1
