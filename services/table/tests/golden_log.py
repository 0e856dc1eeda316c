"""Writes the golden logs of tables: `python golden_log.py NAME`, once for each. What it wrote is replayed for ever.

Together they hold every kind of event that is a table's own: a new kind gets a log of its own here.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from table_scripts import ANN, BOB, CYN, DAN, EVE, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.games.kings_and_rebels.game import KINGS_AND_REBELS
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.state import Phase
from darbar_table.store.chain import first_link, link
from darbar_table.store.codec import Codecs
from darbar_table.store.store import StoredEvent

FOLDER = Path(__file__).parent / "golden"
AT = datetime(2026, 11, 29, 12, 0, 0, 123456, tzinfo=UTC)
STRING = "a golden string"


def rows_of(script: Script) -> list[StoredEvent]:
    """A script's events as they would be stored."""
    codec = Codecs().of(script.table.rules.name)[1]
    rows: list[StoredEvent] = []
    chain = first_link(UUID(script.table.table_id))
    for version, (_, event, _) in enumerate(script.log, start=1):
        kind, body = codec.kind_of(event), codec.encode(event)
        chain = link(chain, UUID(script.table.table_id), version, kind=kind, at=AT, body=body)
        rows.append(StoredEvent(version, kind, body.decode(), AT, chain))
    return rows


def court_piece_game() -> Script:
    """Two people and two bots, a whole game, and into the next count-in."""
    script = Script().sit(BOB)
    script.act(ANN, frames.StartNow(id="a-golden-command"))
    return script.play_game()


def king_that_is_voided() -> Script:
    """Comings and goings around the first rounds of a King, until an operator voids it too late."""
    script = Script(rules=KING_SHORT).sit(BOB).starts_now(ANN)
    for seat, person in ((2, CYN), (3, DAN)):
        script.act(ANN, frames.SendBotAway(id=script.new_id(), seat=seat))
        script.sit(person)
    script.leaves(DAN).sit(DAN).leaves(DAN).sit(DAN).leaves(DAN).sit(EVE)
    script.zero().wallet(done=False, reason="short_of_coins", short=("eve",)).sit(EVE)
    script.zero().leaves(ANN).wallet().wallet().sit(Person("mal", "Mal", "yak"))
    script.act(BOB, frames.SeedCommit(id=script.new_id(), sha256=hashlib.sha256(STRING.encode()).hexdigest()))
    script.act(CYN, frames.Ready(id=script.new_id()))
    script.zero().act(BOB, frames.SeedOpen(id=script.new_id(), string=STRING))
    script.wallet().offline(EVE).back(EVE).play_round()
    while script.table.phase is not Phase.WAITING:
        script.step()
    script.step().leaves(CYN)
    for action in ("resume", "void"):
        script.tell(OperatorAct(action=action, operator="root", why="a golden fault"))
    return script.wallet(done=False, reason="already_settled")


def kings_and_rebels_that_are_left() -> Script:
    """The host deals; a round later everybody leaves, and the pot is not shared in vain."""
    script = Script(rules=KINGS_AND_REBELS, seats=4).sit(BOB, CYN, DAN)
    script.act(ANN, frames.Deal(id=script.new_id()))
    return script.wallet().play_round().wallet().leaves(ANN, BOB, CYN, DAN)


def options_that_are_changed() -> Script:
    """More seats, two decks, then fewer seats than bots had taken, before the first deal."""
    script = Script(rules=KINGS_AND_REBELS, seats=4).sit(BOB, CYN).offline(CYN).starts_now(ANN)
    for options in ({"seats": 6, "decks": 2}, {"seats": 4, "minimum_bid": 205}):
        script.act(ANN, frames.ChangeOptions(id=script.new_id(), options=options))
    return script.back(CYN).zero().wallet().play_round()


def a_player_who_is_sent_away() -> Script:
    """While the count-in runs; somebody else takes the seat."""
    script = Script().sit(BOB, CYN, DAN)
    script.act(ANN, frames.SendPlayerAway(id=script.new_id(), seat=1))
    return script.sit(EVE).zero().wallet().play_round()


def voided_while_staking() -> Script:
    """Everything goes back."""
    script = Script().sit(BOB, CYN, DAN).zero()
    script.tell(OperatorAct(action="void", operator="root", why="a golden fault"))
    return script.wallet()


def three_votes() -> Script:
    """Another partner, a bot for a seat, and the end of the game in the middle of a round."""
    script = Script().sit(BOB, CYN).asks(ANN, "partner", 1).agrees(CYN)
    script.asks(BOB, "bot", 3).agrees(ANN).answers(CYN, agree=False)
    script.sit(DAN).zero().wallet().time_up().asks(DAN, "end_game")
    return script.agrees(BOB, CYN, ANN).wallet()


def comings_and_goings() -> Script:
    """Every kind that names an account, in a chain that covers aliases; those above are chained over account ids."""
    script = Script()
    for _ in range(3):
        script.sit(BOB, CYN, DAN).leaves(DAN, CYN, BOB)
    return script


SCRIPTS: dict[str, Callable[[], Script]] = {
    made.__name__: made
    for made in (
        court_piece_game,
        king_that_is_voided,
        comings_and_goings,
        kings_and_rebels_that_are_left,
        three_votes,
        options_that_are_changed,
        a_player_who_is_sent_away,
        voided_while_staking,
    )
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:]:
        script = SCRIPTS[name]()
        head = json.dumps({"game": script.table.rules.name, "phase": script.table.phase, "round": script.table.round})
        lines = (json.dumps([row.version, row.kind, row.body, row.chain.hex()]) for row in rows_of(script))
        (FOLDER / f"{name}.ndjson").write_text("\n".join([head, *lines]) + "\n")
