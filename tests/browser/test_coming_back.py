"""Reloads, cut lines, second tabs: the board is never stale, and nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from browsing import AT_REST, PHONE, WAIT_MS, Browsing, Guest
from playwright.async_api import Page, expect

from darbar_client.demo.playing import Participant
from darbar_client.table import TableSocket
from darbar_kit.testing.tunnel import Tunnel

PHASES = [
    ("court_piece", {"trump": "open"}, "[data-panel=choices] [data-choice]"),
    ("court_piece", {}, "[data-hand=turn]"),
    ("king_20", {}, "[data-panel=choices] [data-choice]"),
    ("kings_and_rebels", {"seats": 4, "last_seat_must_bid": True}, "[data-panel=bid]"),
    ("kings_and_rebels", {"seats": 4, "minimum_bid": 5}, "[data-panel=converts]"),
    ("king_short", {}, "[data-result=round]"),
    ("kings_and_rebels", {"seats": 4, "rounds": 1}, "[data-result=game]"),
]
VERSIONS_MISSED = 10
CUT_SECONDS = 20.0


@pytest.mark.parametrize(("game", "options", "until"), PHASES, ids=[f"{game} {until}" for game, _, until in PHASES])
async def test_a_reload_brings_the_same_board(
    quick: Browsing, game: str, options: dict[str, object], until: str
) -> None:
    async with quick.at_table(game, options=options, size=PHONE) as guest:
        await guest.start()
        await guest.play_until(until)
        before = await board(guest.page)
        await guest.page.reload()
        await expect(guest.page.locator(until).first).to_be_visible(timeout=20_000)
        assert await board(guest.page) == before


BOARD = """
() => {
  const text = (node) => node.ariaLabel ?? node.alt ?? node.textContent.trim();
  const texts = (selector) => [...document.querySelectorAll(selector)].map(text);
  return {
    cards: texts("[data-card]").sort(), panel: texts("[data-panel] button"), facts: texts("[data-facts]"),
    seats: texts("[data-seat]"), trick: texts("[data-trick] img"),
  };
}
"""


async def board(page: Page) -> dict[str, object]:
    """What can't be otherwise as long as it is this player's turn."""
    await page.wait_for_function(AT_REST)
    shown: dict[str, object] = await page.evaluate(BOARD)
    return shown


async def test_a_reload_while_people_are_waited_for_and_while_it_counts_in(quick: Browsing) -> None:
    async with quick.at_table("court_piece", size=PHONE) as guest:
        page = guest.page
        await page.reload()
        await page.locator("[data-do=start]").click()
        await expect(page.locator("[data-phase=counting_in]")).to_be_visible()
        await page.reload()
        await expect(page.locator("[data-phase=counting_in]")).to_be_visible(timeout=20_000)
        await page.locator("[data-do=deal]").click()
        await expect(page.locator("[data-phase=playing]")).to_be_visible(timeout=20_000)


async def test_a_line_that_is_cut_in_a_trick_comes_back_to_the_board_of_now(calm: Browsing) -> None:
    async with (
        Tunnel.to(calm.url) as tunnel,
        calm.at_table("court_piece", options={"trump": "open"}, url=tunnel.url) as guest,
        friend_of(guest, calm) as friend,
    ):
        await guest.start()
        await guest.play_until("[data-hand=turn]")
        version = await guest.version()
        await tunnel.close()
        await expect(guest.page.get_by_text("Reconnecting")).to_be_visible(timeout=20_000)
        back = time.monotonic() + CUT_SECONDS
        # A bot plays for whoever is away.
        await friend.until(
            lambda now: now.now.seats[0].away and now.version > version + VERSIONS_MISSED and time.monotonic() > back
        )
        assert await guest.version() == version
        await tunnel.open()
        await expect(guest.page.get_by_text("Reconnecting")).to_be_hidden(timeout=20_000)
        await friend.until(lambda now: not now.now.seats[0].away)
        await guest.play_until("[data-hand=turn], [data-result]")
        assert await guest.version() == friend.version
        before = await board(guest.page)
        await guest.page.reload()
        await expect(guest.page.locator("[data-hand=turn], [data-result]").first).to_be_visible(timeout=20_000)
        assert await board(guest.page) == before


async def test_whoever_leaves_is_told_what_it_costs_and_may_come_back(calm: Browsing) -> None:
    async with calm.at_table("court_piece", options={"trump": "open"}, size=PHONE) as guest:
        page = guest.page
        await guest.start()
        await guest.play_until("[data-hand=turn]")
        await page.get_by_role("button", name="Menu").click()
        await page.get_by_role("button", name="Leave").click()
        await expect(page.get_by_text("your bet stays in the pot")).to_be_visible()
        await page.get_by_role("dialog").get_by_role("button", name="Leave").click()
        await page.get_by_role("button", name="Back to your table").click()
        await guest.play_until("[data-hand=turn], [data-result]")


async def test_two_tabs_show_one_table_and_either_plays(quick: Browsing) -> None:
    async with quick.at_table("court_piece", options={"trump": "open"}) as guest:
        other = await guest.page.context.new_page()
        await other.goto(guest.page.url)
        await guest.start()
        await guest.play_until("[data-hand=turn]")
        for page, watching in ((guest.page, other), (other, guest.page)):
            await expect(page.locator("[data-hand=turn]")).to_be_visible(timeout=20_000)
            card = page.locator("[data-card]:not([aria-disabled=true])").first
            name = await card.get_attribute("data-card")
            await card.click()
            await expect(watching.locator(f"[data-card='{name}']")).to_have_count(0, timeout=20_000)


@asynccontextmanager
async def friend_of(guest: Guest, browsing: Browsing) -> AsyncIterator[TableSocket]:
    """Somebody else at the same table, who plays on whatever happens."""
    player = await browsing.darbar.guest()
    table_id = guest.page.url.rpartition("/")[2]
    code = (await guest.player.table(table_id)).code
    assert code is not None
    async with await player.join(await player.look_up(code)) as table:
        await table.sit()
        playing = asyncio.create_task(Participant(player, table, random.Random(1)).play())
        try:
            yield table
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


async def test_after_a_reload_the_sheet_has_the_rounds_that_were_over_before(quick: Browsing) -> None:
    async with quick.at_table("kings_and_rebels", options={"seats": 4, "rounds": 2}, size=PHONE) as guest:
        page = guest.page
        await guest.start()
        await guest.play_until("[data-result=round]")
        await guest.play_until("[data-hand=turn]")
        await page.reload()
        await page.get_by_role("button", name="Score sheet").click(timeout=WAIT_MS)
        sheet = page.get_by_role("dialog")
        # What was captured against the bid.
        first = sheet.get_by_role("columnheader").filter(has_text=re.compile(r"^1\.\d+/\d+$"))
        await expect(first).to_be_visible(timeout=WAIT_MS)
        await expect(sheet.get_by_role("columnheader").filter(has_text=re.compile(r"^2\.")).first).to_be_visible()
