"""Every ruling is held by a test that names it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
RULINGS = (
    *(f"GEN-{number}" for number in range(1, 10)),
    *(f"CP-{number}" for number in range(1, 36)),
    "CP-14b",
    *(f"K20-{number}" for number in range(1, 20)),
    *(f"K32-{number}" for number in range(1, 18)),
    *(f"KR-{number}" for number in range(1, 27)),
    "KR-15b",
)


def named_rulings() -> Iterator[tuple[str, str]]:
    """Each test function of this folder with a ruling that it says it holds to."""
    for path in sorted(TESTS.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.ruling":
                        (number,) = decorator.args
                        assert isinstance(number, ast.Constant)
                        yield node.name, str(number.value)


@pytest.mark.parametrize("ruling", RULINGS)
def test_a_ruling_is_held_by_a_test(ruling: str) -> None:
    assert ruling in {number for _, number in named_rulings()}


def test_a_test_that_holds_a_ruling_has_its_number_in_the_name() -> None:
    for name, ruling in named_rulings():
        assert name.startswith(f"test_{ruling.lower().replace('-', '_')}_"), name
        assert ruling in RULINGS
