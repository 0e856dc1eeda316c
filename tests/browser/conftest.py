"""One browser and two servers for all tests here. Open this when they are skipped, or a server does not start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from browsing import Browsing, browsing
from chromium import ARGUMENTS, executable
from playwright.async_api import Browser, async_playwright
from whole_games import OTHERS_MAY_ENTER

# What is there between two rounds stays until it was looked at. A button ends it.
COUNT_IN: dict[str, str] = {"DARBAR_TABLE_COUNT_IN_SECONDS": "30"}
# Bots that take their time: something can happen between two cards.
CALM = {**COUNT_IN, "DARBAR_TABLE_BOT_PAUSE_SECONDS_MIN": "0.6", "DARBAR_TABLE_BOT_PAUSE_SECONDS_MAX": "0.9"}
BUILT = Path(__file__).parents[2] / "web/dist/index.html"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = await executable()
    if path is None:
        pytest.skip("NO CHROMIUM on this machine: nothing was tried in a browser (tests/browser/chromium.sh)")
    assert BUILT.exists(), "the web client is not built: bash web/build.sh"
    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield opened
        await opened.close()


@pytest.fixture(scope="session")
def stack_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="darbar-browser-"))
    folder.chmod(OTHERS_MAY_ENTER)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def quick(browser: Browser, stack_folder: Path) -> AsyncIterator[Browsing]:
    """Bots play at once."""
    async with browsing(browser, stack_folder, COUNT_IN) as opened:
        yield opened


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def calm(browser: Browser, stack_folder: Path) -> AsyncIterator[Browsing]:
    """Bots play as they do for people."""
    async with browsing(browser, stack_folder, CALM) as opened:
        yield opened
