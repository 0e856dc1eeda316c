"""A table at which everything that can go wrong around the cards goes wrong at random, and its wallet. No servers."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from datetime import timedelta

from table_scripts import ANN, BOB, CYN, DAN, EVE, Script

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_contracts.wallet import GrantRequest, SettleRequest, WalletAnswer
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_table.domain.commands import OperatorAct, WalletAnswered
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import KeptSeatTimer
from darbar_table.engine.effects import wallet_request
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import LedgerView
from darbar_wallet.domain.transfers import TransferRequest, keyed

PEOPLE = (ANN, BOB, CYN, DAN, EVE)


class RandomTable:
    """One table and its wallet: people come, go, lose connections and vote; the wallet answers late."""

    def __init__(self, rules: AnyGame, seed: int) -> None:
        self.chance = random.Random(seed)
        self.votes = self.chance.choice((0.0, 0.2, 0.6))
        self.calm = self.chance.choice((8, 30, 100))
        self.script = Script(f"00000000-0000-4000-8000-{seed:012}", rules=rules)
        self.changeable = [option for option in rules.options if option.changeable]
        self.ledger = LedgerView()
        self.asked: Counter[str] = Counter()
        for person in PEOPLE:
            self.ask(GrantRequest(person.account_id, person.account_id, "new_account"))

    def step(self) -> None:
        if self.script.table.asked is not None and self.chance.random() < 0.7:
            self.answer()
            return
        with suppress(Refused):  # Not everybody may do everything at any time.
            self.happen()

    def happen(self) -> None:
        script, person = self.script, self.chance.choice(PEOPLE)
        if self.chance.random() < self.votes:
            self.vote(person)
            return
        match script.phase, self.chance.randrange(self.calm):
            case _, 0:
                script.leaves(person)
            case _, 1:
                script.offline(person)
            case _, 2:
                script.back(person)
            case Phase.WAITING, 3:
                for timer in [timer for timer in script.due() if isinstance(timer, KeptSeatTimer)]:
                    script.rings(timer)
            case Phase.WAITING, 4:
                script.starts_now(person)
            case Phase.WAITING, 5 if self.changeable:
                option = self.chance.choice(self.changeable)
                changes = {option.name: self.chance.choice(option.values)}
                script.act(script.person(script.table.host), frames.ChangeOptions(script.new_id(), changes))
            case Phase.WAITING | Phase.COUNTING_IN, 6:
                seat = self.chance.randrange(len(script.table.seats))
                script.act(script.person(script.table.host), frames.SendPlayerAway(script.new_id(), seat))
                script.now += timedelta(seconds=self.chance.choice((10, 1000)))
            case Phase.WAITING, _:
                script.sit(person)
            case Phase.COUNTING_IN, _:
                script.zero()
            case Phase.OPENING_SEEDS, _:
                script.tell_seeds_are_late()
            case Phase.PLAYING, 3:
                script.is_back(person)
            case Phase.PLAYING, 5 | 6:
                script.time_up()
            case Phase.PLAYING, _:
                script.play_round()
            case _:
                script.act(person, frames.Ready(id=script.new_id()))

    def vote(self, person: Person) -> None:
        """Ask for something, or answer, or let the time run out."""
        script, chance = self.script, self.chance
        script.now += timedelta(seconds=chance.choice((1, 5, 20)))
        if script.table.vote is None:
            about: frames.VoteAbout = chance.choice(("partner", "bot", "end_game"))
            if about == "partner":
                person = script.person(script.table.host)
            script.asks(person, about, None if about == "end_game" else chance.randrange(len(script.table.seats)))
        elif chance.random() < 0.1:
            script.silence()
        else:
            script.answers(person, agree=chance.random() < 0.8)

    def answer(self) -> None:
        asked = self.script.table.asked
        assert asked is not None
        request = wallet_request(self.script.table, asked)[1]
        answer = self.ask(request)
        assert answer.done or type(request).__name__ == "StakeRequest", (request, answer)
        self.script.tell(WalletAnswered(key=asked.key, answer=answer))

    def ask(self, request: TransferRequest) -> WalletAnswer:
        wanted = keyed(request)
        decision = decide(wanted, self.ledger, GrantTerms())
        self.ledger.record(wanted, decision)
        if not isinstance(request, GrantRequest):
            self.asked[type(request).__name__] += 1
        if isinstance(request, SettleRequest):
            self.asked[f"{request.purpose}{' with bets back' if request.bets_back else ''}"] += 1
        return decision.answer

    def end(self) -> None:
        """Whatever is under way, then an operator voids the table."""
        self.answer_all()
        if self.script.phase is not Phase.CLOSED:
            self.script.tell(OperatorAct("void", "op", "the test is over"))
        self.answer_all()

    def answer_all(self) -> None:
        while self.script.table.asked is not None:
            self.answer()
