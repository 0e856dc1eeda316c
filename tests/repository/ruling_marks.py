"""A plugin for `pytest --collect-only`: says which ruling each test is marked with. Open test_rulings.py instead."""

from __future__ import annotations

import pytest

WORD = "ruling-of"


def pytest_collection_finish(session: pytest.Session) -> None:
    """One line a mark. A test that is always skipped holds nothing."""
    for item in session.items:
        if item.get_closest_marker("skip") is None:
            for mark in item.iter_markers("ruling"):
                print(WORD, *mark.args, item.nodeid.split("[")[0], sep="\t")  # noqa: T201
