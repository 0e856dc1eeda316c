"""A guest plays whole games against bots, by the buttons of the page alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from browsing import FULL_HD, PHONE, WAIT_MS, Browsing, Guest
from playwright.async_api import expect

# Games as short as their options allow.
GAMES = [
    ("court_piece", {"trump": "hidden"}, PHONE),
    ("king_20", {}, FULL_HD),
    ("king_short", {}, PHONE),
    ("kings_and_rebels", {"seats": 4, "rounds": 2}, PHONE),
]
# Sheets with a row for each round whose last players' columns are beyond the edge.
CUT_SHEETS = """
() => {
  const sheets = [...document.querySelectorAll(".scroll:not(.turned)")];
  return sheets.filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.parentElement.outerHTML);
}
"""


@pytest.mark.parametrize(("game", "options", "size"), GAMES, ids=[f"{game}-{size[0]}" for game, _, size in GAMES])
async def test_a_guest_plays_a_whole_game(
    quick: Browsing, game: str, options: Mapping[str, object], size: tuple[int, int]
) -> None:
    async with quick.at_table(game, options=options, size=size) as guest:
        await guest.start()
        steps = await guest.play_until("[data-result=game]")
        assert steps >= 13
        await expect(guest.page.get_by_role("heading", name="The game is over")).to_be_visible()
        assert await guest.page.evaluate(CUT_SHEETS) == []
        assert (await kinds(guest)).count("game_ended") == 1
        await every_deal_is_proven(guest)
        await the_replay_steps_through(guest)


async def every_deal_is_proven(guest: Guest) -> None:
    """The button computes every shuffle of the game again."""
    page = guest.page
    await page.get_by_role("button", name="Fair?").click()
    await expect(page.locator("[data-proof=proven]")).to_be_visible(timeout=WAIT_MS)
    shown = (await kinds(guest)).count("seeds_shown")
    assert await page.get_by_role("dialog").get_by_role("listitem").count() == shown
    await page.get_by_role("button", name="Close").click()


async def the_replay_steps_through(guest: Guest) -> None:
    page = guest.page
    await page.get_by_role("button", name="Replay").click()
    await expect(page.locator("[data-replay='0']")).to_be_visible(timeout=WAIT_MS)
    await page.get_by_role("button", name="On", exact=True).click()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("[data-replay='2']")).to_be_visible()
    await page.get_by_role("button", name="Close the replay").click()
    await expect(page.locator("[data-result=game]")).to_be_visible()


async def test_a_long_game_is_ended_when_all_agree(quick: Browsing) -> None:
    """King with 56 deals, two people and two bots, which agree at once."""
    async with quick.at_table("king_long") as host, quick.guest(size=PHONE) as friend:
        await friend.join(host)
        await host.start()
        await host.page.get_by_role("button", name="Menu").click()
        await host.page.get_by_role("button", name="Ask to end the game").click()
        await friend.page.get_by_role("button", name="Agree").click(timeout=WAIT_MS)
        # What was staked for the round goes back first.
        for guest in (host, friend):
            await expect(guest.page.locator("[data-phase=playing]")).to_be_hidden(timeout=WAIT_MS)
            await expect(guest.page.locator("[data-phase=waiting], [data-phase=counting_in]")).to_be_visible(
                timeout=WAIT_MS
            )
        assert "game_ended" in await kinds(host)


async def test_somebody_alone_with_bots_has_nobody_to_ask_and_is_shown_the_way_home(quick: Browsing) -> None:
    async with quick.at_table("king_long", size=PHONE) as guest:
        await guest.start()
        await guest.page.get_by_role("button", name="Menu").click()
        await expect(guest.page.get_by_role("button", name="Leave")).to_be_visible()
        await expect(guest.page.get_by_role("button", name="Ask to end the game")).to_be_hidden()
        # Elsewhere they have left.
        async with await guest.player.join(guest.page.url.rpartition("/")[2]) as table:
            await table.leave()
        await guest.page.get_by_role("button", name="Close").click()
        await guest.page.get_by_role("button", name="Home").click(timeout=WAIT_MS)
        await expect(guest.page.get_by_role("button", name="Play now")).to_be_visible(timeout=WAIT_MS)


async def kinds(guest: Guest) -> list[str]:
    """The kinds of all that has happened at the table."""
    table_id = guest.page.url.rpartition("/")[2]
    return [event.kind for event in (await guest.player.replay(table_id)).events]


async def test_from_the_first_page_one_click_leads_to_cards(quick: Browsing) -> None:
    context = await quick.browser.new_context(viewport={"width": PHONE[0], "height": PHONE[1]}, is_mobile=True)
    try:
        page = await context.new_page()
        await page.goto(quick.url)
        await page.get_by_role("button", name="Play now").click()
        await expect(page.locator("[data-card]").first).to_be_visible(timeout=20_000)
        assert await page.locator("[data-card]").count() in (5, 13)
    finally:
        await context.close()
