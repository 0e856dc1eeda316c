"""What people do at a table beside playing: they invite, speak, mute, block, send away."""

from __future__ import annotations

import asyncio
import re

from browsing import PHONE, WAIT_MS, Browsing
from playwright.async_api import Page, expect


async def test_a_friend_comes_by_the_code_and_both_speak_until_one_is_muted(quick: Browsing) -> None:
    async with quick.at_table("court_piece", size=PHONE) as host, quick.guest() as friend:
        await friend.join(host)
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

        await host.page.reload()
        await host.page.get_by_role("button", name=f"{friend.player.name}: more").click(timeout=WAIT_MS)
        await host.page.get_by_role("button", name="Hear again").click()
        await say(friend.page, "Good luck")
        await expect(seat.get_by_text("Good luck")).to_be_visible(timeout=WAIT_MS)


async def test_who_sits_down_later_under_the_name_of_a_muted_player_is_heard_and_can_be_reported(
    quick: Browsing,
) -> None:
    async with (
        quick.at_table("court_piece") as host,
        quick.guest(name="Zara Noor", size=PHONE) as muted,
        quick.guest(name="Zara Noor", size=PHONE) as later,
    ):
        page = host.page
        menu = page.get_by_role("button", name="Zara Noor: more")
        await muted.join(host)
        await menu.click(timeout=WAIT_MS)
        async with page.expect_response(re.compile("/v1/tables/")):
            await page.get_by_role("button", name="Mute").click()
        await page.reload()
        await menu.click(timeout=WAIT_MS)
        await expect(page.get_by_role("button", name="Hear again")).to_be_visible(timeout=WAIT_MS)
        await page.get_by_role("button", name="Close").click()
        async with await muted.player.join(page.url.rpartition("/")[2]) as table:
            await table.leave()
        await expect(menu).to_be_hidden(timeout=WAIT_MS)

        await later.join(host)
        await expect(menu).to_be_visible(timeout=WAIT_MS)
        await page.reload()
        await menu.click(timeout=WAIT_MS)
        await expect(page.get_by_role("button", name="Mute")).to_be_visible()
        await page.get_by_role("button", name="Report the name").click()
        await expect(page.get_by_text("Somebody will look at the name Zara Noor")).to_be_visible(timeout=WAIT_MS)


async def test_the_host_blocks_a_player_and_sends_them_away(quick: Browsing) -> None:
    async with quick.at_table("court_piece") as host, quick.guest() as friend:
        await friend.join(host)
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
        await friend.join(host)
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


# The ring around the microphone has gone so far.
SPOKEN = """
(share) => {
  const { strokeDasharray: all, strokeDashoffset: left } = getComputedStyle(document.querySelector("circle.done"));
  return 1 - parseFloat(left) / parseFloat(all) > share;
}
"""


async def test_four_people_play_a_round_and_hear_a_note_that_one_records_while_holding_the_button(
    quick: Browsing,
) -> None:
    async with (
        quick.at_table("court_piece", options={"trump": "open"}) as host,
        quick.guest(size=PHONE) as ann,
        quick.guest() as ben,
        quick.guest() as cyn,
    ):
        for friend in (ann, ben, cyn):
            await friend.join(host)
        await host.page.locator("[data-do=deal]").click(timeout=WAIT_MS)
        for guest in (host, ann, ben, cyn):
            await expect(guest.page.locator("[data-phase=playing]")).to_be_visible(timeout=WAIT_MS)

        await ben.page.get_by_role("button", name="Say something").click()
        await ben.page.get_by_role("button", name="Send voice note").hover()
        await ben.page.mouse.down()
        await expect(ben.page.get_by_text("let go to send")).to_be_visible(timeout=WAIT_MS)
        await ben.page.wait_for_function(SPOKEN, arg=0.3)
        await ben.page.mouse.up()
        for listener in (host, ann, cyn):
            await expect(listener.page.locator("[data-microphone=playing]")).to_be_visible(timeout=WAIT_MS)
        await ben.page.get_by_role("button", name="Say something").click()
        await expect(ben.page.get_by_role("button", name="Send voice note")).to_be_disabled()
        await expect(ben.page.get_by_text("You have had your voice note of this round")).to_be_visible()
        await ben.page.get_by_role("button", name="Close").click()

        table = (host, ann, ben, cyn)
        await asyncio.gather(*(guest.play_until("[data-result=round]") for guest in table))
        # Bets are shared out, and everybody is asked whether they are ready: then nothing comes for a while.
        for guest in table:
            await expect(guest.page.locator("[data-do=ready]")).to_be_visible(timeout=WAIT_MS)
        version = max([await guest.version() for guest in table])
        for guest in table:
            await expect(guest.page.locator(f"[data-version='{version}']")).to_be_visible(timeout=WAIT_MS)


async def test_without_another_person_no_voice_note_is_offered_and_it_is_said_why(quick: Browsing) -> None:
    async with quick.at_table("court_piece") as host:
        await host.start()
        await host.page.get_by_role("button", name="Say something").click()
        await expect(host.page.get_by_role("button", name="Send voice note")).to_be_disabled()
        await expect(host.page.get_by_text("Voice notes are for games with other people")).to_be_visible()


REFUSES = """
() => {
  navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("", "NotAllowedError"); };
}
"""


async def test_a_microphone_that_is_refused_is_said_plainly(quick: Browsing) -> None:
    async with quick.at_table("court_piece") as host, quick.guest() as friend:
        await friend.join(host)
        await host.start()
        await host.page.evaluate(REFUSES)
        await host.page.get_by_role("button", name="Say something").click()
        await host.page.get_by_role("button", name="Send voice note").click()
        await expect(host.page.get_by_text("The microphone is not allowed here")).to_be_visible(timeout=WAIT_MS)


async def say(page: Page, phrase: str) -> None:
    await page.get_by_role("button", name="Say something").click()
    await page.get_by_role("button", name=phrase, exact=True).click()
