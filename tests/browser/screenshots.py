"""Pictures of every screen at three sizes, into docs/screens. A program: `make screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import screens
from browsing import AT_REST, FULL_HD, LAPTOP, PHONE, Size, Theme, browsing
from chromium import ARGUMENTS, executable
from playwright.async_api import Page, async_playwright
from whole_games import OTHERS_MAY_ENTER

PLACE: Final = Path(__file__).parents[2] / "docs/screens"
JPEG_QUALITY: Final = 58
# Long enough to be seen, and as short as everywhere.
COUNT_IN: Final = {"DARBAR_TABLE_COUNT_IN_SECONDS": "7"}
SIZES: Final[tuple[tuple[Size, Theme], ...]] = (
    (PHONE, "dark"),
    (LAPTOP, "light"),
    (FULL_HD, "dark"),
)


@dataclass(frozen=True)
class Camera:
    size: Size

    async def __call__(self, name: str, page: Page) -> None:
        await page.wait_for_function(AT_REST)
        file = f"{name.replace(' ', '-').replace('_', '-')}-{self.size[0]}x{self.size[1]}.jpg"
        await page.screenshot(path=PLACE / file, type="jpeg", quality=JPEG_QUALITY)
        sys.stdout.write(f"{file}\n")


async def take(path: str, folder: Path, wanted: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        async with browsing(browser, folder, COUNT_IN) as opened:
            for size, theme in SIZES:
                for visit in screens.EVERYTHING:
                    if wanted in visit.__name__:
                        await visit(opened, Camera(size), size, theme)


def main(wanted: str = "") -> int:
    path = asyncio.run(executable())
    if path is None:
        sys.stdout.write("screenshots: NO CHROMIUM on this machine (tests/browser/chromium.sh)\n")
        return 1
    folder = Path(tempfile.mkdtemp(prefix="darbar-screens-"))
    folder.chmod(OTHERS_MAY_ENTER)
    PLACE.mkdir(exist_ok=True)
    try:
        asyncio.run(take(path, folder, wanted))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
