"""Every screen at the table, one after another. Open this to add one to what axe and the pictures look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from browsing import SETTINGS, WAIT_MS, Browsing, Guest, Size, Theme
from playwright.async_api import Page, expect

Show = Callable[[str, Page], Awaitable[None]]


class Visit(Protocol):
    """Goes through screens, and shows each."""

    __name__: str

    async def __call__(self, browsing: Browsing, show: Show, size: Size, theme: Theme) -> None: ...


CHOICES = "[data-panel=choices] [data-choice]"
TURN = "[data-hand=turn]"
TRICK = f"main:has({TURN}):has([data-trick] img)"
ROUND_OVER = "[data-result=round]"
GAME_OVER = "[data-result=game]"

PAGES = ("create", "tables", "rules", "rules/king_20", "leaders", "profile", "wallet", "settings", "blocked")
# Game, options, and what is waited for, with the screen's name.
TABLES: tuple[tuple[str, Mapping[str, object], tuple[tuple[str, str], ...]], ...] = (
    (
        "court_piece",
        {},
        (("choosing", f"{CHOICES} img"), ("turn", TRICK), ("round over", ROUND_OVER)),
    ),
    ("king_20", {}, (("contract", CHOICES), ("turn", TRICK), ("round over", ROUND_OVER))),
    (
        "kings_and_rebels",
        {"seats": 5, "rounds": 1},
        (("bid", "[data-panel=bid]"), ("converts", "[data-panel=converts]"), ("turn", TRICK), ("game over", GAME_OVER)),
    ),
    ("kings_and_rebels", {"seats": 12, "decks": 2}, (("twelve seats", TRICK),)),
)


async def beside_the_table(browsing: Browsing, show: Show, size: Size, theme: Theme) -> None:
    async with browsing.guest(size=size, theme=theme) as guest:
        page = guest.page
        await page.goto(guest.url)
        await expect(page.get_by_role("button", name="Play now")).to_be_visible(timeout=WAIT_MS)
        await show("home", page)
        for name in PAGES:
            await page.goto(f"{guest.url}/#/{name}")
            await expect(page.get_by_role("button", name="Back")).to_be_visible(timeout=WAIT_MS)
            await expect(page.locator("[data-loading]")).to_have_count(0, timeout=WAIT_MS)
            await show(name.replace("/", " "), page)


async def before_a_game(browsing: Browsing, show: Show, size: Size, theme: Theme) -> None:
    async with browsing.guest(size=size, theme=theme) as guest:
        page = guest.page
        await guest.open(await guest.player.create_table("court_piece", turn_seconds=30))
        await show("waiting", page)
        await page.get_by_role("button", name="Menu").click()
        await show("menu", page)
        await page.get_by_role("button", name="Invite").click()
        await show("invite", page)
        await page.get_by_role("button", name="Close").click()
        await browsing.announce("Maintenance at 22:00, for ten minutes")
        await expect(page.get_by_text("Maintenance at 22:00")).to_be_visible(timeout=WAIT_MS)
        await show("announcement", page)
        await browsing.announce("--end")
        await expect(page.get_by_text("Maintenance at 22:00")).to_be_hidden(timeout=WAIT_MS)
        await page.locator("[data-do=start]").click()
        await expect(page.locator("[data-phase=counting_in]")).to_be_visible()
        await show("count in", page)


async def at_tables(browsing: Browsing, show: Show, size: Size, theme: Theme) -> None:
    for game, options, stops in TABLES:
        async with browsing.guest(size=size, theme=theme) as guest:
            await guest.open(await guest.player.create_table(game, options=options, turn_seconds=30, bot_level="easy"))
            await guest.start()
            for name, until in stops:
                await guest.play_until(until)
                await show(f"{game} {name}", guest.page)
                if name == "turn":
                    await opened(guest, game, show)


async def opened(guest: Guest, game: str, show: Show) -> None:
    """What can be opened in a round; each once."""
    page = guest.page
    if game == "king_20":
        await page.get_by_role("button", name="Score sheet").click()
        await show("sheet", page)
        await page.get_by_role("button", name="Close").click()
    elif game == "court_piece":
        await page.get_by_role("button", name="Say something").click()
        await show("phrases", page)
        await page.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Menu").click()
        await page.get_by_role("button", name="Leave").click()
        await show("leave", page)
        await page.get_by_role("button", name="Stay").click()


async def after_a_game(browsing: Browsing, show: Show, size: Size, theme: Theme) -> None:
    async with browsing.guest(size=size, theme=theme) as guest:
        page = guest.page
        options = {"seats": 4, "rounds": 1}
        await guest.open(await guest.player.create_table("kings_and_rebels", options=options, bot_level="easy"))
        await guest.start()
        await guest.play_until(GAME_OVER)
        await page.get_by_role("button", name="Fair?").click()
        await expect(page.locator("[data-proof=proven]")).to_be_visible(timeout=WAIT_MS)
        await show("fair", page)
        await page.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Replay").click()
        await page.get_by_role("slider").fill("20")
        await show("replay", page)


async def from_right_to_left(browsing: Browsing, show: Show, size: Size, theme: Theme) -> None:
    async with browsing.guest(size=size, theme=theme, settings={**SETTINGS, "language": "ur"}) as guest:
        await guest.page.goto(guest.url)
        await expect(guest.page.locator("h1")).to_be_visible(timeout=WAIT_MS)
        await show("urdu home", guest.page)
        await guest.open(await guest.player.create_table("court_piece", turn_seconds=30, bot_level="easy"))
        await guest.start()
        await guest.play_until(TRICK)
        await show("urdu turn", guest.page)


EVERYTHING: tuple[Visit, ...] = (beside_the_table, before_a_game, at_tables, after_a_game, from_right_to_left)
