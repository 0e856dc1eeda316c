"""Where this machine's Chromium is. As a program: whether Playwright has brought one."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
)


async def executable() -> str | None:
    """The one on PATH first, then Playwright's own."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    async with async_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if is_there(path) else None


def is_there(path: str) -> bool:
    return Path(path).exists()


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(executable()) else 1)
