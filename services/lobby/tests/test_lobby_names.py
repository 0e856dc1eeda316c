"""Names: who is let through and who is not. Open this before adding a word to a list."""

from __future__ import annotations

import random

import pytest

from darbar_contracts.bots import BOT_NAMES
from darbar_lobby.domain.names import (
    AVATARS,
    NAME_CHARACTERS_MAX,
    name_is_allowed,
    normalised_login_name,
    random_name,
)


@pytest.mark.parametrize(
    "name",
    [
        "Al",
        "x" * NAME_CHARACTERS_MAX,
        "Robot Fox",
        "Amina Begum",
        "Abdul-Rahman",
        "O'Neill",
        "زہرہ بیگم",
        "मीरा",
        "Ayşe",
        "Łukasz",
        "李小龙",
        "Zoya 99",
        "Cassandra",
        "Dickens",
        "Scunthorpe",
        "Poornima",
        "Nigar",
        "Nigam",
        "Essex Girl",
        "Classic",
        "Hancock",
        "Peacock",
        "Basshunter",
        "Administratum",
        "Botany",
        "Abbot",
        "Hostile Fox",
        "Mother Falcon",
        "Brandi Kim",
        "Titsian",
    ],
)
def test_honest_names_are_let_through(name: str) -> None:
    assert name_is_allowed(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A",
        "x" * (NAME_CHARACTERS_MAX + 1),
        "12345",
        "!!!",
        "🂡🂢",
        "admin",
        "ADMIN",
        "Admin 1",
        "A d m i n",
        "4dm1n",
        "аdmin",  # The first letter is Cyrillic.
        "àdmîn",
        "ａｄｍｉｎ",
        "ad\u200dmin",
        "Darbar",
        "dar-bar",
        "Moderator",
        "Bot 3",
        "bot",
        "House",
        "System",
        "fuck",
        "FuUuUck you",
        "f u c k",
        "f.u.c.k",
        "fück",
        "phat fuck",
        "madarch0d",
        "bhen chod",
        "chut",
        "ch00t",
        "sh1t",
        "@ss",
        "you ass",
        "nigger",
        "nigggger",
        "assssholes",
        "Bot Falcon",
        "Zara B0t",
        "Darbar Support",
        "admin of all",
        "n1gg3r",
        "Hitler 88",
    ],
)
def test_reserved_and_abusive_names_are_refused_in_any_disguise(name: str) -> None:
    assert not name_is_allowed(name)


@pytest.mark.ruling("TL-2")
def test_every_name_that_is_given_is_one_that_could_be_chosen() -> None:
    dice = random.Random(1)
    names = {random_name(dice.choice) for _ in range(2000)}
    assert len(names) > 300
    assert all(name_is_allowed(name) for name in names)


@pytest.mark.parametrize("name", BOT_NAMES)
def test_nobody_is_called_like_a_bot(name: str) -> None:
    for spelling in (name, name.upper(), f" {name[0]}-{name[1:]}", name.replace("a", "а").replace("i", "1")):
        assert not name_is_allowed(spelling)
    assert name_is_allowed(f"{name} Khan"), "somebody's own name, and no bot's"


def test_avatars_are_keys() -> None:
    assert len(set(AVATARS)) == len(AVATARS)
    assert all(avatar.isascii() and avatar.isalpha() and avatar.islower() for avatar in AVATARS)


@pytest.mark.parametrize(
    ("text", "login_name"),
    [
        ("ann", "ann"),
        ("Ann.B-2_c", "ann.b-2_c"),
        ("a" * 32, "a" * 32),
        ("9lives", "9lives"),
        ("an", None),
        ("a" * 33, None),
        (".ann", None),
        ("an n", None),
        ("änn", None),
        ("ann\n", None),
        ("a" * 65536, None),
    ],
)
def test_login_names(text: str, login_name: str | None) -> None:
    assert normalised_login_name(text) == login_name
