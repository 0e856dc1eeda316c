"""What all tests of the simulator share."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# A history leaves a few tens of thousands of objects behind, all of them garbage.
OBJECTS_BETWEEN_COLLECTIONS = 50_000


# What a process was about to begin, or in the midst of, when it crashed or a history ended: nobody closes it, and it
# may be swept up as late as in the next test.
LEFT_BEHIND = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited:RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
# Their tests take longest.
FIRST = ("test_planted_bugs", "test_statements_are_postgres")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """No test of the simulator hears of what histories left behind. What takes long begins first: the short rest is
    then shared evenly, and all workers end at the same time."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(LEFT_BEHIND)
    items.sort(key=lambda item: item.path.stem not in FIRST)


@pytest.fixture(scope="session", autouse=True)
def _few_collections() -> Iterator[None]:
    """What was imported stays, and is not looked through again and again."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *before[1:])
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
