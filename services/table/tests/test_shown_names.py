"""Nobody at a table passes for somebody else: people are numbered, bots take other names. Open this about names."""

from __future__ import annotations

import pytest
from table_scripts import ANN, BOB, Script

from darbar_contracts import frames
from darbar_contracts.bots import BOT_NAMES
from darbar_contracts.tables import Person
from darbar_kit.names import skeleton


def names(script: Script) -> list[str | None]:
    return [seat.bot or (seat.player.name if seat.player is not None else None) for seat in script.table.seats]


@pytest.mark.ruling("TL-2")
def test_people_whose_names_look_alike_are_numbered_as_they_sit_down() -> None:
    script = Script()
    for account_id, name in (("b", "ANN"), ("c", "Anп"), ("d", "Аnn 2")):  # They look alike.
        script.sit(Person(account_id, name, "fox"))
    shown = [name for name in names(script) if name is not None]
    assert len(shown) == len({skeleton(name) for name in shown}) == 4
    assert shown.count("ANN 2") == 1
    assert [seat.player.account_id for seat in script.table.seats if seat.player] == [ANN.account_id, "c", "b", "d"]


def test_who_comes_back_has_the_number_that_is_needed_then() -> None:
    script = Script()
    namesake = Person("b", "Ann", "fox")
    script.sit(namesake)
    script.act(ANN, frames.Leave(id=script.new_id()))
    script.sit(Person(ANN.account_id, "Ann", "fox"))
    assert sorted(name for name in names(script) if name) == ["Ann", "Ann 2"]


@pytest.mark.ruling("TL-2")
def test_a_bot_takes_a_name_that_nobody_there_has() -> None:
    script = Script()
    script.sit(Person("b", BOT_NAMES[0].upper(), "fox"), BOB)
    script.act(ANN, frames.StartNow(id=script.new_id()))
    bots = [seat.bot for seat in script.table.seats if seat.bot is not None]
    assert bots == [BOT_NAMES[1]]


def test_no_two_bots_look_alike() -> None:
    assert len({skeleton(name) for name in BOT_NAMES}) == len(BOT_NAMES)
    script = Script()
    script.act(ANN, frames.StartNow(id=script.new_id()))
    assert [seat.bot for seat in script.table.seats if seat.bot is not None] == list(BOT_NAMES[:3])
