"""What a browser shows at the address of an invite. Open this to change that page."""

from __future__ import annotations

from html import escape

from darbar_contracts.api import TableSeen

# Nothing is loaded from anywhere and no script runs, whatever somebody calls themselves.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title} - Darbar</title>
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }}</style>
<h1>{title}</h1>
{text}
"""
_HOW_TO_JOIN = """<p><a href="/#/invite/{invite_token}">Play in this browser</a></p>
<p>Any other client of Darbar takes this invite:</p>
<p><code>{invite_token}</code></p>
<p>The Python client of Darbar takes it in <code>look_up_invite</code>; any other client asks
<a href="/v1/invites/{invite_token}">/v1/invites/{invite_token}</a> and connects to the socket that the answer
names.</p>
"""


def invitation(seen: TableSeen, game_title: str, invite_token: str) -> str:
    """The page about a table that the invite opens. Whatever people chose is escaped."""
    sitting = [person.name for person in seen.table.seats if person is not None and person.name]
    people = f"{' and '.join(sitting)} would like to play with you." if sitting else "A seat waits for you."
    terms = seen.table.terms
    facts = f"{game_title}, {_seats(seen.free_seats)}, {terms.bet_coins} coins a stake, {terms.turn_seconds} s a turn."
    text = f"<p>{escape(people)}</p>\n<p>{escape(facts)}</p>\n"
    return _PAGE.format(
        title=escape(f"You are invited to {game_title}"),
        text=text + _HOW_TO_JOIN.format(invite_token=escape(invite_token)),
    )


def no_invitation() -> str:
    """The page about an invite that opens nothing, or nothing any more."""
    text = "<p>The table is closed, or the address is not complete. Ask whoever sent it for a new one.</p>\n"
    return _PAGE.format(title="This invite opens no table", text=text)


def _seats(free_seats: int) -> str:
    return {0: "no seat free just now", 1: "1 seat free"}.get(free_seats, f"{free_seats} seats free")
