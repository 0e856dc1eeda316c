"""What holds for any sequence of requests, repeats and reuse of keys included."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import (
    GrantRequest,
    RefundPurpose,
    RefundRequest,
    SettlePurpose,
    SettleRequest,
    Share,
    StakeRequest,
    StakeSeat,
    WalletAnswer,
)
from darbar_wallet.domain.decide import GrantTerms, decide
from darbar_wallet.domain.ledger_view import LedgerView
from darbar_wallet.domain.transfers import BANK, BOTS, TransferKind, TransferRequest, keyed, kind_of, pot, reserve

PLAYERS = ("ann", "bob", "cid", "dan")
TABLES = ("t1", "t2")
REQUESTS_MAX = 40
# So small that people run out of coins, and that keys meet each other.
TERMS = GrantTerms(new_account_coins=500, top_up_to_coins=300, top_up_below_coins=100)

keys = st.integers(0, 11).map(lambda number: f"k{number}")
tables = st.sampled_from(TABLES)
holders = st.one_of(st.none(), st.sampled_from(PLAYERS))
coins = st.integers(-50, 700)


@st.composite
def stakes(draw: st.DrawFn) -> StakeRequest:
    seats = tuple(StakeSeat(seat, draw(holders)) for seat in range(draw(st.integers(0, 4))))
    return StakeRequest(draw(keys), draw(tables), "u", 1, draw(st.integers(0, 150)), seats)


@st.composite
def wild_settles(draw: st.DrawFn) -> SettleRequest:
    shares = tuple(Share(seat, draw(holders), draw(coins)) for seat in range(draw(st.integers(0, 3))))
    again = tuple(draw(st.lists(st.integers(0, 4), max_size=2)))
    back = tuple(draw(st.lists(st.integers(0, 4), max_size=2)))
    purpose = draw(st.sampled_from(SettlePurpose))
    request = SettleRequest(draw(keys), draw(keys), draw(tables), "u", purpose, again, shares, back, draw(coins))
    return msgspec.structs.replace(request, present_holders=("dan",))


class FairSettle(NamedTuple):
    """Stands for a settle of an open stake: who pays again, or whose bet goes back; the sum comes later."""

    key: str
    purpose: SettlePurpose
    seats: set[int]


fair_settles = st.builds(FairSettle, keys, st.sampled_from(SettlePurpose), st.sets(st.integers(0, 3)))
refunds = st.builds(RefundRequest, keys, keys, tables, st.just("u"), st.sampled_from(RefundPurpose))
kinds: st.SearchStrategy[Literal["new_account", "top_up"]] = st.sampled_from(["new_account", "top_up"])
grants = st.builds(GrantRequest, key=keys, account_id=st.sampled_from(PLAYERS), kind=kinds)
Step = TransferRequest | FairSettle
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(stakes(), wild_settles(), fair_settles, refunds, grants), max_size=REQUESTS_MAX
)


def fair(step: FairSettle, ledger: LedgerView) -> SettleRequest | None:
    """Shares the pot of the first open stake among those who did not pay again, first come, first served."""
    for stake_key, known in ledger.answered.items():
        if known.stake is None or not known.answer.done or stake_key in ledger.closed:
            continue
        stake = known.stake
        seats = tuple(sorted(step.seats & {seat.seat for seat in stake.seats}))
        if step.purpose in (SettlePurpose.TABLE_CLOSED, SettlePurpose.ENDED_EARLY):
            lost = stake.bet_coins * (len(stake.seats) - len(seats))
            return SettleRequest(
                step.key, stake_key, stake.table_id, "u", step.purpose, bets_back=seats, forfeit_coins=lost
            )
        whole = stake.bet_coins * (len(stake.seats) + len(seats))
        winner = stake.seats[-1]
        shares = (Share(winner.seat, winner.account_id, whole // 2),)
        return SettleRequest(
            step.key, stake_key, stake.table_id, "u", step.purpose, seats, shares, (), whole - whole // 2 - 1, 1
        )
    return None


def played(sequence: list[Step]) -> tuple[LedgerView, list[tuple[TransferRequest, WalletAnswer, int]]]:
    """The ledger afterwards, and each request with its answer and the number of lines it posted."""
    ledger = LedgerView()
    told: list[tuple[TransferRequest, WalletAnswer, int]] = []
    for step in sequence:
        request = fair(step, ledger) if isinstance(step, FairSettle) else step
        if request is None:
            continue
        asked = keyed(request)
        decision = decide(asked, ledger, TERMS)
        assert sum(posting.coins for posting in decision.postings) == 0
        assert all(posting.coins for posting in decision.postings)
        assert decision.answer.done or not decision.postings
        ledger.record(asked, decision)
        told.append((request, decision.answer, len(decision.postings)))
        check(ledger)
    return ledger, told


def check(ledger: LedgerView) -> None:
    """What holds after every step."""
    assert sum(ledger.balances.values()) == 0
    assert all(balance >= 0 for account, balance in ledger.balances.items() if account not in (BANK, BOTS))
    assert all(staked >= 0 for staked in ledger.staked.values())
    lying = dict.fromkeys(TABLES, 0)
    for stake_key, known in ledger.answered.items():
        if known.stake is not None and known.answer.done and stake_key not in ledger.closed:
            lying[known.stake.table_id] += known.stake.bet_coins * len(known.stake.seats)
    for table, whole in lying.items():
        assert ledger.balances.get(pot(table), 0) == whole
        assert ledger.balances.get(reserve(table), 0) == whole
    assert sum(ledger.staked.values()) == sum(lying.values())


@given(steps)
def test_coins_are_conserved_and_pots_hold_what_open_stakes_put_there(sequence: list[Step]) -> None:
    played(sequence)


@given(steps)
def test_a_repeat_gets_its_first_answer_and_moves_nothing(sequence: list[Step]) -> None:
    ledger, told = played(sequence)
    balances = dict(ledger.balances)
    first: dict[str, WalletAnswer] = {}
    for request, answer, _ in told:
        if answer.reason != Reason.KEY_REUSED:
            first.setdefault(request.key, answer)

    for request, answer, _ in told:
        again = decide(keyed(request), ledger, TERMS)

        assert not again.is_new
        assert not again.postings
        assert again.answer == answer
        assert again.answer == first[request.key] or again.answer.reason == Reason.KEY_REUSED
    assert ledger.balances == balances


@given(steps)
def test_a_stake_is_closed_at_most_once(sequence: list[Step]) -> None:
    _, told = played(sequence)
    closed: list[str] = []
    for request, answer, lines in told:
        if lines and answer.done and isinstance(request, SettleRequest | RefundRequest):
            closed.append(request.stake_key)

    assert len(closed) == len(set(closed))


@given(steps)
def test_the_bank_gives_only_what_the_terms_say(sequence: list[Step]) -> None:
    ledger, told = played(sequence)
    new = [request for request, answer, lines in told if lines and kind_of(request) == TransferKind.NEW_ACCOUNT]
    top_ups = [request for request, answer, lines in told if lines and kind_of(request) == TransferKind.TOP_UP]

    assert len({request.account_id for request in new if isinstance(request, GrantRequest)}) == len(new)
    assert len({request.account_id for request in top_ups if isinstance(request, GrantRequest)}) == len(top_ups)
    given_coins = -ledger.balances.get(BANK, 0)
    assert 500 * len(new) <= given_coins <= 500 * len(new) + 300 * len(top_ups)
