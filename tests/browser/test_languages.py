"""The table in a language that is written from right to left. Open this when a hand can't be read there."""

from __future__ import annotations

import pytest
import screens
from browsing import AT_REST, LAPTOP, PHONE, SETTINGS, WAIT_MS, Browsing, Size
from playwright.async_api import expect

# Of each card, what lies where its index is.
UNSEEN = """
() => [...document.querySelectorAll("[data-card]")].flatMap((card) => {
  const { left, top } = card.getBoundingClientRect();
  const seen = document.elementFromPoint(left + 10, top + 14)?.closest("[data-card]");
  return seen === card ? [] : [card.ariaLabel];
})
"""


# Text that its box cuts off, and what sticks out at a side.
CUT = """
() => {
  const shown = (node) => node.offsetParent !== null && !node.closest(".unseen, [aria-hidden=true]");
  const words = "h1, h2, p, button, a, label, th, td, small, strong, summary";
  // A phone's innerWidth grows with what sticks out.
  const width = document.documentElement.clientWidth;
  const cut = [...document.querySelectorAll(words)].filter(shown).filter((node) => {
    const { left, right } = node.getBoundingClientRect();
    const isCutOff = node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1;
    return left < -1 || right > width + 1 || (isCutOff && getComputedStyle(node).overflowX !== "visible");
  });
  return cut.map((node) => node.textContent.trim().slice(0, 60));
}
"""


@pytest.mark.parametrize("language", ["ur", "hi", "ru", "tr"])
async def test_on_a_phone_no_page_is_wider_than_the_screen_in_any_language(quick: Browsing, language: str) -> None:
    async with quick.guest(size=PHONE, settings={**SETTINGS, "language": language}) as guest:
        page = guest.page
        cut: dict[str, list[str]] = {}
        for name in ("", *screens.PAGES, "rules/kings_and_rebels"):
            await page.goto(f"{guest.url}/#/{name}")
            await expect(page.locator("h1")).to_be_visible(timeout=WAIT_MS)
            await expect(page.locator("[data-loading]")).to_have_count(0, timeout=WAIT_MS)
            await page.wait_for_function(AT_REST)
            cut[name] = await page.evaluate(CUT)
        ref = await guest.player.create_table("king_short", turn_seconds=30, bot_level="easy")
        await guest.open(ref)
        cut["waiting"] = await page.evaluate(CUT)
        await guest.start()
        await guest.play_until("[data-result]")
        cut["result"] = await page.evaluate(CUT)
        assert {name: found for name, found in cut.items() if found} == {}


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
async def test_in_urdu_every_card_of_the_hand_shows_its_index(quick: Browsing, size: Size) -> None:
    async with quick.guest(size=size, settings={**SETTINGS, "language": "ur"}) as guest:
        ref = await guest.player.create_table("king_short", turn_seconds=30, bot_level="easy")
        await guest.open(ref)
        assert await guest.page.evaluate("() => document.documentElement.dir") == "rtl"
        await guest.start()
        await guest.play_until("[data-hand=turn]")

        assert await guest.page.locator("[data-card]").count() > 0
        assert await guest.page.evaluate(UNSEEN) == []
