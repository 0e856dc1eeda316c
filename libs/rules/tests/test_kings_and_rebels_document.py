"""The page of docs/rules about Kings and Rebels tells of every option, every pack and every ruling."""

from __future__ import annotations

import re
from pathlib import Path

from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_rules.games.kings_and_rebels.options import SEATS_MAX, KingsAndRebelsOptions, setup_of
from darbar_rules.testing import at_least, option_values

PAGE = (Path(__file__).parents[3] / "docs" / "rules" / "kings_and_rebels.md").read_text()
OPTION = re.compile(r"^\| `(\w+)` \| (.+) \| (.+) \|$", re.MULTILINE)
PACK = re.compile(r"^\| (\d+) \|([^|]*)\|([^|]*)\| ([^|]+) \| (\d+) \|$", re.MULTILINE)


def test_the_page_lists_every_option() -> None:
    rows = {name: (values, default) for name, values, default in OPTION.findall(PAGE.split("## Table options")[1])}
    assert list(rows) == list(option_values(KINGS_AND_REBELS))
    words = {True: "on", False: "off", "secret": "`secret`", "public": "`public`"}
    switches = (option for option in KINGS_AND_REBELS.options if option.maximum is None)
    for option in at_least(5, switches):
        assert rows[option.name] == (", ".join(words[value] for value in option.values), words[option.default])
    assert rows["decks"] == ("`1`, `2`", "1")
    assert rows["seats"] == ("4 to 8 with one deck, 4 to 12 with two", "5")


def test_the_page_lists_every_pack() -> None:
    rows = {
        int(seats): (one.strip(), one_each.strip(), two, two_each)
        for seats, one, one_each, two, two_each in PACK.findall(PAGE)
    }
    assert set(rows) == set(range(4, SEATS_MAX[2] + 1))
    for seats, (one, _, two, two_each) in rows.items():
        assert setup_of(KingsAndRebelsOptions(seats=seats, decks=2)).held == int(two_each)
        assert two
        assert bool(one) == (seats <= SEATS_MAX[1])
    for seats, (_, one_each, _, _) in at_least(5, (row for row in rows.items() if row[0] <= SEATS_MAX[1])):
        assert setup_of(KingsAndRebelsOptions(seats=seats)).held == int(one_each)


def test_the_page_names_every_ruling_that_a_player_can_notice() -> None:
    assert {f"KR-{number}" for number in range(1, 27)} <= set(re.findall(r"KR-\d+", PAGE))
