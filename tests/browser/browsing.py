"""A person at a table, in a real browser. Open this to change how the tests look at pages and play."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import Browser, Error, Page, expect
from whole_games import BACKOFF, local_server, new_folder

from darbar_client import Darbar
from darbar_client.darbar import Player
from darbar_client.demo.local_server import LocalServer
from darbar_contracts.api import Session, TableRef
from darbar_local.exit_codes import ExitCode
from darbar_local.testing import run

Size = tuple[int, int]
Theme = Literal["dark", "light"]

PHONE: Final = (390, 844)
LAPTOP: Final = (1280, 800)
FULL_HD: Final = (1920, 1080)

WAIT_MS: Final = 20_000
GAME_MS_MAX: Final = 120_000
# A second tap only costs a test time.
SETTINGS: Final[Mapping[str, object]] = {"oneTap": True}

# What moves has arrived, and what comes and goes has gone; the ring of the turn never does. So it is for some frames:
# what a click begins, and what follows an animation, is there a frame later.
AT_REST: Final = """
() => {
  const rests = (moving) => !moving.effect || !["running", "paused"].includes(moving.playState)
    || moving.effect.target.tagName === "circle" || moving.effect.getTiming().iterations === Infinity;
  const isQuiet = document.getAnimations().every(rests) && [...document.images].every((image) => image.complete)
    && !document.querySelector("[data-joined], [data-loading], [role=alert]");
  window.framesAtRest = isQuiet ? (window.framesAtRest ?? 0) + 1 : 0;
  if (window.framesAtRest < 4) return false;
  window.framesAtRest = 0;
  return true;
}
"""

# Plays by the page's own buttons: one step for each version of the table, until there is what is looked for.
PLAY: Final = """
async ({ until, milliseconds }) => {
  let steps = 0;
  const end = performance.now() + milliseconds;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(
    (button) => !button.disabled && button.getAttribute("aria-disabled") !== "true");
  const isMore = (button) => button.ariaLabel === "More" && steps % 16 !== 15;
  const chosen = (panel) => {
    if (panel.dataset.panel === "bid") return all("[data-panel] button").find(isMore) ?? panel.querySelector(".main");
    if (panel.dataset.panel !== "converts") return all("[data-panel] .main, [data-panel] [data-choice]")[0];
    if (!panel.querySelector("[aria-checked=true]")) return panel.querySelector("[role=radio]");
    if (!panel.querySelector("[aria-pressed=true]")) return panel.querySelector("[aria-pressed]");
    return panel.querySelector(".main");
  };
  const next = () => {
    const panel = document.querySelector("[data-panel]");
    const cards = all("[data-card]");
    const isMust = panel && cards.length === 0;
    return (isMust && chosen(panel)) || cards.at(-1) || all("[data-do=ready], [data-do=deal]")[0];
  };
  const version = () => document.querySelector("[data-version]")?.dataset.version;
  const frame = () => new Promise((resolve) => setTimeout(resolve, 8));
  while (performance.now() < end) {
    if (document.querySelector(until)) return steps;
    const button = next();
    if (button) {
      const before = version();
      button.click();
      steps += 1;
      const moved = performance.now() + 400;
      do await frame();
      while (!isMore(button) && version() === before && performance.now() < moved);
    } else await frame();
  }
  throw new Error(`no ${until} after ${steps} steps: ${document.body.innerText.slice(0, 400)}`);
}
"""


@dataclass
class Guest:
    """An account, and the page that plays for it."""

    player: Player
    page: Page
    url: str
    faults: list[str] = field(default_factory=list)

    async def open(self, ref: TableRef) -> None:
        await self.page.goto(f"{self.url}/#/table/{ref.table_id}")
        await expect(self.page.locator("[data-version]")).to_be_visible(timeout=WAIT_MS)

    async def join(self, host: Guest) -> None:
        """Sits down at the table of somebody who waits, by its code."""
        code = await host.page.locator("strong").first.inner_text()
        await self.page.goto(f"{self.url}/#/code/{code}")
        await self.page.get_by_role("button", name="Join").click()
        await self.page.get_by_role("button", name="Sit here").first.click()

    async def start(self) -> None:
        """Bots sit down, and the first round is dealt."""
        await self.page.locator("[data-do=start]").click()
        await self.page.locator("[data-do=deal]").click()
        await expect(self.page.locator("[data-phase=playing]")).to_be_visible(timeout=WAIT_MS)

    async def play_until(self, selector: str, milliseconds: int = GAME_MS_MAX) -> int:
        """How many steps it took."""
        try:
            steps: int = await self.page.evaluate(PLAY, {"until": selector, "milliseconds": milliseconds})
        except Error as error:
            raise AssertionError(f"{error.message}; faults of the page: {self.faults}") from None
        return steps

    async def version(self) -> int:
        return int(await self.page.locator("[data-version]").get_attribute("data-version") or 0)


@dataclass
class Browsing:
    """A browser before a server."""

    browser: Browser
    darbar: Darbar
    server: LocalServer

    @property
    def url(self) -> str:
        return self.server.url

    async def announce(self, *line: str) -> None:
        """As operators do, with `darbar announce`."""
        data = self.server.log.parent / "data"
        async with run("announce", *line, "--data", str(data), variables={}) as announcing:
            assert await announcing.end() == (ExitCode.FINE, "")

    async def account(self, name: str | None = None) -> tuple[Player, Session]:
        body = {"name": name, "avatar": "kite"}
        session = await self.darbar.http.ask("POST", "/v1/guests", Session, body=body, repeatable=False)
        return Player(self.darbar, session), session

    @asynccontextmanager
    async def guest(
        self,
        *,
        size: Size = LAPTOP,
        theme: Theme = "dark",
        url: str | None = None,
        settings: Mapping[str, object] = SETTINGS,
        name: str | None = None,
    ) -> AsyncIterator[Guest]:
        """Somebody with an account; what goes wrong on their page fails the test."""
        player, session = await self.account(name)
        width, height = size
        context = await self.browser.new_context(
            viewport={"width": width, "height": height}, has_touch=size == PHONE, is_mobile=size == PHONE
        )
        kept = {
            "account": {"id": session.account.id, "name": session.account.name, "avatar": session.account.avatar},
            "access_token": session.access_token,
            "refresh_token": session.refresh_token,
            "renew_at": (time.time() + session.access_seconds / 2) * 1000,
        }
        placed = {"darbar.session": kept, "darbar.settings": {**settings, "light": theme == "light"}}
        await context.add_init_script(
            "".join(
                f"localStorage.getItem({name!r}) ?? localStorage.setItem({name!r}, {json.dumps(json.dumps(value))});"
                for name, value in placed.items()
            )
        )
        page = await context.new_page()
        guest = Guest(player, page, url or self.url)
        page.on("pageerror", lambda error: guest.faults.append(str(error)))
        try:
            yield guest
            assert guest.faults == []
        finally:
            await context.close()

    @asynccontextmanager
    async def at_table(
        self,
        game: str,
        *,
        options: Mapping[str, object] | None = None,
        size: Size = LAPTOP,
        url: str | None = None,
    ) -> AsyncIterator[Guest]:
        """A host alone at a new table."""
        async with self.guest(size=size, url=url) as guest:
            ref = await guest.player.create_table(game, options=options, turn_seconds=30, bot_level="easy")
            await guest.open(ref)
            yield guest


@asynccontextmanager
async def browsing(browser: Browser, folder: Path, settings: Mapping[str, str]) -> AsyncIterator[Browsing]:
    """Before a server of its own."""
    async with (
        local_server(new_folder(folder, "server"), settings) as server,
        Darbar(server.url, backoff=BACKOFF) as darbar,
    ):
        yield Browsing(browser, darbar, server)
