"""The wallet does whatever a table can ask of it, and no coin is left there. Both are pure here: no servers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from random_tables import PEOPLE, RandomTable

from darbar_rules.game import AnyGame
from darbar_rules.games import ALL
from darbar_table.domain.state import Phase
from darbar_wallet.domain.transfers import BANK, BOTS, FORFEIT, ROUNDING, player, pot, reserve

STEPS = 200
TABLES = 60


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.name)
def test_whatever_a_table_asks_is_done_and_no_coin_is_left_at_it(
    rules: AnyGame, record_property: Callable[[str, object], None]
) -> None:
    asked: Counter[str] = Counter()
    for seed in range(TABLES):
        played = RandomTable(rules, seed)
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
