"""The wallet does whatever a table can ask of it, and no coin is left there. Both are pure here: no servers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest
from table_scripts import ANN, BOB, CYN, DAN, EVE, Script

from darbar_contracts import frames
from darbar_contracts.wallet import GrantRequest, SettleRequest, WalletAnswer
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_table.domain.commands import OperatorAct, WalletAnswered
from darbar_table.domain.state import Phase
from darbar_table.domain.timers import KeptSeatTimer
from darbar_table.engine.effects import wallet_request
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import LedgerView
from darbar_wallet.domain.transfers import BANK, BOTS, FORFEIT, ROUNDING, TransferRequest, keyed, player, pot, reserve

PEOPLE = (ANN, BOB, CYN, DAN, EVE)
STEPS = 200
TABLES = 60


class Played:
    """One table and its wallet; everything that can go wrong around the cards goes wrong at random."""

    def __init__(self, rules: AnyGame, seed: int) -> None:
        self.chance = random.Random(seed)
        self.calm = self.chance.choice((8, 30, 100))
        self.script = Script(f"00000000-0000-4000-8000-{seed:012}", rules=rules)
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
            case Phase.WAITING, _:
                script.sit(person)
            case Phase.COUNTING_IN, _:
                script.zero()
            case Phase.OPENING_SEEDS, _:
                script.tell_seeds_are_late()
            case Phase.PLAYING, 3:
                script.is_back(person)
            case Phase.PLAYING, _:
                script.play_round()
            case _:
                script.act(person, frames.Ready(id=script.new_id()))

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


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_whatever_a_table_asks_is_done_and_no_coin_is_left_at_it(
    rules: AnyGame, record_property: Callable[[str, object], None]
) -> None:
    asked: Counter[str] = Counter()
    for seed in range(TABLES):
        played = Played(rules, seed)
        for _ in range(STEPS):
            if played.script.phase is Phase.CLOSED:
                break
            played.step()
        played.end()
        asked += played.asked
        coins = played.ledger.balances
        table_id = played.script.table.table_id
        assert sum(coins.values()) == 0
        assert (coins.get(pot(table_id), 0), coins.get(reserve(table_id), 0)) == (0, 0)
        others = sum(coins.get(account, 0) for account in (BANK, BOTS, FORFEIT, ROUNDING))
        assert sum(coins[player(person.account_id)] for person in PEOPLE) == -others
    record_property("count", dict(asked))
    assert asked["StakeRequest"] > TABLES / 2
    assert asked["SettleRequest"] > 0
    assert asked["RefundRequest"] > 0
    assert rules.stake_unit == "round" or asked["table_closed with bets back"] > 0
