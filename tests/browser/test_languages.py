"""The table in a language that is written from right to left. Open this when a hand can't be read there."""

from __future__ import annotations

import pytest
from browsing import LAPTOP, PHONE, SETTINGS, Browsing, Size

# Of each card, what lies where its index is.
UNSEEN = """
() => [...document.querySelectorAll("[data-card]")].flatMap((card) => {
  const { left, top } = card.getBoundingClientRect();
  const seen = document.elementFromPoint(left + 10, top + 14)?.closest("[data-card]");
  return seen === card ? [] : [card.ariaLabel];
})
"""


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
