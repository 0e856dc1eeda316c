"""What people do at a table beside playing: they invite, speak, mute, block, send away."""

from __future__ import annotations

from browsing import PHONE, WAIT_MS, Browsing, Guest
from playwright.async_api import Page, expect


async def test_a_friend_comes_by_the_code_and_both_speak_until_one_is_muted(quick: Browsing) -> None:
    async with quick.at_table("court_piece", size=PHONE) as host, quick.guest() as friend:
        await comes_by_the_code(friend, host)
        seat = host.page.get_by_role("group", name=f"{friend.player.name}, 0 cards")
        await expect(seat).to_be_visible(timeout=WAIT_MS)

        await say(friend.page, "Well played")
        await expect(seat.get_by_text("Well played")).to_be_visible()
        await expect(seat.get_by_text("Well played")).to_be_hidden(timeout=WAIT_MS)

        await host.page.get_by_role("button", name=f"{friend.player.name}: more").click()
        await host.page.get_by_role("button", name="Mute").click()
        await say(friend.page, "Hello")
        await say(host.page, "Thank you")
        await expect(friend.page.get_by_role("group", name=host.player.name).get_by_text("Thank you")).to_be_visible()
        assert await seat.get_by_text("Hello").count() == 0


async def test_the_host_blocks_a_player_and_sends_them_away(quick: Browsing) -> None:
    async with quick.at_table("court_piece") as host, quick.guest() as friend:
        await comes_by_the_code(friend, host)
        menu = host.page.get_by_role("button", name=f"{friend.player.name}: more")
        await menu.click()
        await host.page.get_by_role("button", name="Block").click()
        await expect(host.page.get_by_text(f"{friend.player.name} is blocked")).to_be_visible(timeout=WAIT_MS)
        assert [blocked.name for blocked in (await host.player.blocks()).blocked] == [friend.player.name]
        await menu.click()
        await host.page.get_by_role("button", name="Send away").click()
        await expect(menu).to_be_hidden(timeout=WAIT_MS)


async def test_a_voice_note_from_the_microphone_is_heard_by_the_other_and_can_be_reported(quick: Browsing) -> None:
    async with quick.at_table("court_piece", options={"trump": "open"}) as host, quick.guest(size=PHONE) as friend:
        await comes_by_the_code(friend, host)
        await host.start()
        await expect(friend.page.locator("[data-phase=playing]")).to_be_visible(timeout=WAIT_MS)
        await friend.page.get_by_role("button", name="Say something").click()
        await friend.page.get_by_role("button", name="Send voice note").click()
        await expect(friend.page.get_by_text("Speak now")).to_be_visible(timeout=WAIT_MS)
        await expect(host.page.locator("[data-microphone=recording]")).to_be_visible(timeout=WAIT_MS)
        # The beep of the fake microphone comes once a second: without it there is nothing to be heard.
        await expect(friend.page.get_by_text("Recorded")).to_be_visible(timeout=WAIT_MS)
        await friend.page.get_by_role("button", name="Send", exact=True).click()
        await expect(host.page.locator("[data-microphone=playing]")).to_be_visible(timeout=WAIT_MS)
        await host.page.get_by_role("button", name="Report voice note").click(timeout=WAIT_MS)
        await expect(host.page.get_by_text("Somebody will listen to it")).to_be_visible(timeout=WAIT_MS)


REFUSES = """
() => {
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", "NotAllowedError"); };
}
"""


async def test_a_microphone_that_is_refused_is_said_plainly(quick: Browsing) -> None:
    async with quick.at_table("court_piece") as host:
        await host.page.evaluate(REFUSES)
        await host.page.get_by_role("button", name="Say something").click()
        await host.page.get_by_role("button", name="Send voice note").click()
        await expect(host.page.get_by_text("The microphone is not allowed here")).to_be_visible(timeout=WAIT_MS)


async def comes_by_the_code(friend: Guest, host: Guest) -> None:
    code = await host.page.locator("strong").first.inner_text()
    await friend.page.goto(f"{friend.url}/#/code/{code}")
    await friend.page.get_by_role("button", name="Join").click()
    await friend.page.get_by_role("button", name="Sit here").first.click()


async def say(page: Page, phrase: str) -> None:
    await page.get_by_role("button", name="Say something").click()
    await page.get_by_role("button", name=phrase, exact=True).click()
