"""Every screen is readable: for axe, for a thumb, and on a phone with twelve players."""

from __future__ import annotations

from pathlib import Path

import pytest
import screens
from browsing import AT_REST, FULL_HD, LAPTOP, PHONE, Browsing, Size, Theme
from playwright.async_api import Page

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
SCREENS_MIN = 2
TARGET_PX = 44

RUN = """
async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
  ({ id, nodes }) => id + ": " + nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | "))
"""
# Smaller than a finger, or outside the window, or under something else.
MISSED = """
(least) => [...document.querySelectorAll("button, input, select, a")].flatMap((node) => {
  const box = (node.closest("label") ?? node).getBoundingClientRect();
  if (box.width === 0 || node.closest("[inert], .unseen") || node.disabled) return [];
  const isSmall = box.height < least - 0.5 || box.width < 24;
  const label = node.ariaLabel ?? node.textContent.trim().slice(0, 40);
  return isSmall ? [`${label}: ${Math.round(box.width)} x ${Math.round(box.height)}`] : [];
})
"""
SCROLLS = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


# In the light only what needs no long play: colours are the same at every table.
SEEN: list[tuple[Size, Theme, screens.Visit]] = [
    *((PHONE, "dark", visit) for visit in screens.EVERYTHING),
    *((LAPTOP, "light", visit) for visit in (screens.beside_the_table, screens.before_a_game, screens.after_a_game)),
]


@pytest.mark.parametrize(
    ("size", "theme", "visit"), SEEN, ids=[f"{visit.__name__}, {theme}" for _, theme, visit in SEEN]
)
async def test_no_screen_has_a_fault_that_axe_or_a_thumb_finds(
    quick: Browsing, size: Size, theme: Theme, visit: screens.Visit
) -> None:
    found: dict[str, list[str]] = {}

    async def look(name: str, page: Page) -> None:
        if await page.evaluate("() => typeof axe") == "undefined":
            await page.evaluate(AXE.read_text())
        found[name] = [*await page.evaluate(RUN), *await page.evaluate(MISSED, TARGET_PX)]
        if await page.evaluate(SCROLLS):
            found[name].append("it can be scrolled sideways")

    await visit(quick, look, size, theme)
    assert len(found) >= SCREENS_MIN
    assert [f"{name}: {fault}" for name, faults in found.items() for fault in faults] == []


async def test_a_card_that_gets_the_focus_moves_the_table_to_no_side(quick: Browsing) -> None:
    async with quick.at_table("court_piece", size=PHONE) as guest:
        page = guest.page
        await guest.start()
        await guest.play_until("[data-hand=turn]")
        await page.locator("main").evaluate("(main) => main.scrollTo(14, 14)")
        assert await page.locator("main").evaluate("(main) => [main.scrollLeft, main.scrollTop]") == [0, 0]


# Two seats that lie on each other, and what a player's tap on a card hits.
OVERLAPS = """
() => {
  const seats = [...document.querySelectorAll("[data-seat]")];
  const boxes = seats.map((node) => [node.ariaLabel, node.getBoundingClientRect()]);
  const shared = (a, b) => Math.min(
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  return boxes.flatMap(([name, box], place) =>
    boxes.slice(place + 1).filter(([, other]) => shared(box, other) > 4).map(([other]) => `${name} on ${other}`));
}
"""


async def test_twelve_rebels_have_room_on_a_phone(quick: Browsing) -> None:
    options = {"seats": 12, "decks": 2, "minimum_bid": 5}
    async with quick.at_table("kings_and_rebels", options=options, size=PHONE) as guest:
        page = guest.page
        await guest.start()
        await guest.play_until("[data-hand=turn]")
        assert await page.locator("[data-seat]").count() == 12
        assert await page.evaluate(OVERLAPS) == []
        for _ in range(3):
            await guest.play_until("[data-hand=turn]")
            cards = await page.locator("[data-card]").count()
            card = page.locator("[data-card]:not([aria-disabled=true])").last
            await card.tap()
            await page.wait_for_function(
                "(cards) => document.querySelectorAll('[data-card]').length < cards", arg=cards
            )


# Rows that are under an edge, seats that are under the panel, and a button that can't be reached.
CUT = """
() => {
  const panel = document.querySelector("[data-result=game]");
  const box = panel.getBoundingClientRect();
  const isOver = (a) => Math.min(a.right, box.right) - Math.max(a.left, box.left) > 4
    && Math.min(a.bottom, box.bottom) - Math.max(a.top, box.top) > 4;
  const isOutside = (a) => a.top < 0 || a.left < 0 || a.bottom > innerHeight || a.right > innerWidth;
  const named = (nodes, isWrong) => [...nodes]
    .filter((node) => isWrong(node.getBoundingClientRect())).map((node) => node.ariaLabel ?? node.textContent);
  const middle = panel.querySelector("[tabindex]");
  return [
    ...(middle.scrollHeight > middle.clientHeight + 1 ? [`${middle.scrollHeight} in ${middle.clientHeight}`] : []),
    ...named(panel.querySelectorAll("button"), isOutside),
    ...named(document.querySelectorAll(".place [data-seat]"), isOver),
  ];
}
"""


@pytest.mark.parametrize("seats", [5, 7, 12])
async def test_a_result_is_seen_whole_with_everybody_around_it(quick: Browsing, seats: int) -> None:
    options = {"seats": seats, "decks": 2 if seats > 6 else 1, "rounds": 1}
    async with quick.at_table("kings_and_rebels", options=options) as guest:
        await guest.start()
        await guest.play_until(screens.GAME_OVER)
        for width, height in (PHONE, LAPTOP, FULL_HD):
            await guest.page.set_viewport_size({"width": width, "height": height})
            await guest.page.wait_for_function(AT_REST)
            assert await guest.page.evaluate(CUT) == [], f"at {width} x {height}"
