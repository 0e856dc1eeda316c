"""What each request does to the ledger, and every reason to refuse one."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest

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
from darbar_wallet.domain.decide import BET_COINS_MAX, SEATS_MAX, GrantTerms, decide
from darbar_wallet.domain.ledger_view import Decision, EarlierAnswer, LedgerView
from darbar_wallet.domain.transfers import (
    BANK,
    BOTS,
    FORFEIT,
    ROUNDING,
    EntryReason,
    Posting,
    TransferKind,
    TransferRequest,
    is_player,
    keyed,
    player,
    pot,
    reserve,
)

TERMS = GrantTerms()
BET = 100
CLOSED = SettlePurpose.TABLE_CLOSED


def rich(*account_ids: str) -> LedgerView:
    """A ledger in which each of these has 1,000 coins."""
    bank = {BANK: -1000 * len(account_ids)}
    return LedgerView(balances=bank | {player(account_id): 1000 for account_id in account_ids})


def tell(ledger: LedgerView, request: TransferRequest) -> WalletAnswer:
    """Decides and records, as the writer does."""
    return _decided(ledger, request).answer


def _decided(ledger: LedgerView, request: TransferRequest) -> Decision:
    asked = keyed(request)
    decision = decide(asked, ledger, TERMS)
    ledger.record(asked, decision)
    return decision


def stake(*account_ids: str | None, key: str = "stake", bet_coins: int = BET) -> StakeRequest:
    seats = tuple(StakeSeat(seat, account_id) for seat, account_id in enumerate(account_ids))
    return StakeRequest(key, "t", "g1.r1", 1, bet_coins, seats)


def settle(
    *shares: tuple[int, str | None, int],
    key: str = "settle",
    purpose: SettlePurpose = SettlePurpose.ROUND_ENDED,
    pays_again: tuple[int, ...] = (),
    bets_back: tuple[int, ...] = (),
    forfeit_coins: int = 0,
    rounding_coins: int = 0,
    present_holders: tuple[str, ...] = (),
) -> SettleRequest:
    given = tuple(Share(*share) for share in shares)
    return SettleRequest(
        key=key,
        stake_key="stake",
        table_id="t",
        unit="g1.r1",
        purpose=purpose,
        pays_again=pays_again,
        shares=given,
        bets_back=bets_back,
        forfeit_coins=forfeit_coins,
        rounding_coins=rounding_coins,
        present_holders=present_holders,
    )


def refund(*, key: str = "refund", stake_key: str = "stake", table_id: str = "t") -> RefundRequest:
    return RefundRequest(key, stake_key, table_id, "g1.r1", RefundPurpose.VOIDED)


def grant(account_id: str, kind: Literal["new_account", "top_up"], key: str = "") -> GrantRequest:
    return GrantRequest(key or f"{kind}-{account_id}", account_id, kind)


@pytest.mark.ruling("TL-19")
def test_a_stake_takes_the_bet_into_the_pot_and_one_more_into_the_reserve() -> None:
    ledger = rich("ann", "bob")

    answer = tell(ledger, stake("ann", None, "bob", None))

    assert answer == WalletAnswer(True, balances={"ann": 800, "bob": 800})
    assert ledger.balances[pot("t")] == 400
    assert ledger.balances[reserve("t")] == 400
    assert ledger.balances[BOTS] == -400
    assert ledger.staked == {player("ann"): 100, player("bob"): 100, BOTS: 200}


@pytest.mark.ruling("TL-12")
def test_a_stake_is_refused_as_a_whole_with_all_who_are_short() -> None:
    ledger = rich("ann", "bob", "cid")
    ledger.balances[player("bob")] = 2 * BET - 1

    answer = tell(ledger, stake("ann", "bob", "cid", "eve"))

    assert (answer.done, answer.reason, answer.short) == (False, Reason.SHORT_OF_COINS, ("bob", "eve"))
    assert ledger.balances[player("ann")] == 1000
    assert pot("t") not in ledger.balances


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (stake("ann", bet_coins=0), Reason.AMOUNT_INVALID),
        (stake("ann", bet_coins=-5), Reason.AMOUNT_INVALID),
        (stake("ann", bet_coins=BET_COINS_MAX + 1), Reason.AMOUNT_INVALID),
        (stake(), Reason.SEATS_INVALID),
        (stake("ann", "ann"), Reason.SEATS_INVALID),
        (stake(*[None] * (SEATS_MAX + 1)), Reason.SEATS_INVALID),
        (settle((0, "ann", 100)), Reason.STAKE_UNKNOWN),
        (grant("eve", "top_up"), Reason.WALLET_MISSING),
        (grant("ann", "top_up"), Reason.BALANCE_TOO_HIGH),
    ],
)
def test_an_impossible_request_is_refused(request_: TransferRequest, reason: Reason) -> None:
    answer = tell(rich("ann", "bob"), request_)

    assert (answer.done, answer.reason) == (False, reason)


@pytest.mark.parametrize(
    "request_", [stake("ann", bet_coins=1), stake("ann", bet_coins=BET_COINS_MAX), stake(*[None] * SEATS_MAX)]
)
def test_the_largest_and_the_smallest_stake_are_granted(request_: StakeRequest) -> None:
    ledger = LedgerView(balances={player("ann"): 2 * BET_COINS_MAX})

    assert tell(ledger, request_).done


@pytest.mark.ruling("TL-12")
def test_twice_the_bet_is_enough_and_a_coin_less_is_not() -> None:
    ledger = LedgerView(balances={player("ann"): 2 * BET, player("bob"): 2 * BET - 1})

    answer = tell(ledger, stake("ann", "bob", "eve", None))

    assert (answer.short, answer.balances) == (("bob", "eve"), {"ann": 2 * BET, "bob": 2 * BET - 1, "eve": 0})
    assert tell(ledger, stake("ann", None, key="other")).balances == {"ann": 0}


def test_every_line_says_for_what_it_is() -> None:
    ledger = rich("ann", "bob")
    here, held, ann, bob = pot("t"), reserve("t"), player("ann"), player("bob")

    staked = _decided(ledger, stake("ann", "bob"))
    shared = settle((0, "ann", 200), pays_again=(1,), forfeit_coins=60, rounding_coins=40)
    settled = _decided(ledger, shared)
    _decided(ledger, stake("ann", key="again"))
    refunded = _decided(ledger, refund(stake_key="again"))
    granted = _decided(ledger, grant("eve", "new_account"))
    ledger.balances[player("eve")] = 30
    topped_up = _decided(ledger, grant("eve", "top_up"))

    assert _lines(staked) == {
        *_move(100, ann, here, "bet", total=200),
        *_move(100, bob, here, "bet", total=200),
        *_move(100, ann, held, "reserve", total=200),
        *_move(100, bob, held, "reserve", total=200),
    }
    assert _lines(settled) == {
        *_move(100, held, here, "pays_again"),
        *_move(100, held, ann, "reserve_back"),
        *_move(200, here, ann, "share"),
        *_move(60, here, FORFEIT, "forfeit"),
        *_move(40, here, ROUNDING, "rounding"),
    }
    assert settled.answer.balances == {"ann": 1100, "bob": 800}
    assert _lines(refunded) == {*_move(100, here, ann, "bet_back"), *_move(100, held, ann, "reserve_back")}
    assert _lines(granted) == set(_move(5000, BANK, player("eve"), "new_account"))
    assert _lines(topped_up) == set(_move(970, BANK, player("eve"), "top_up"))


def _lines(decision: Decision) -> set[tuple[str, int, str]]:
    return {(posting.account, posting.coins, posting.reason) for posting in decision.postings}


def _move(coins: int, source: str, target: str, reason: str, *, total: int = 0) -> list[tuple[str, int, str]]:
    """Two lines; `total` when the target's line holds what others gave for the same reason as well."""
    return [(source, -coins, reason), (target, total or coins, reason)]


def test_two_stakes_on_one_seat_are_refused() -> None:
    request = StakeRequest("stake", "t", "g1.r1", 1, BET, (StakeSeat(0, "ann"), StakeSeat(0, "bob")))

    assert tell(rich("ann", "bob"), request).reason == Reason.SEATS_INVALID


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (settle((0, "ann", 399)), Reason.SUM_MISMATCH),
        (settle((0, "ann", 401)), Reason.SUM_MISMATCH),
        (settle((0, "ann", 400), forfeit_coins=1), Reason.SUM_MISMATCH),
        (settle((0, "ann", 400), pays_again=(1,)), Reason.SUM_MISMATCH),
        (settle((0, "ann", 500), (1, "bob", -100)), Reason.AMOUNT_INVALID),
        (settle((0, "ann", 500), rounding_coins=-100), Reason.AMOUNT_INVALID),
        (settle((0, "eve", 400)), Reason.PAYEE_UNKNOWN),
        (settle((0, "ann", 500), pays_again=(7,)), Reason.SEATS_INVALID),
        (settle((0, "ann", 600), pays_again=(1, 1)), Reason.SEATS_INVALID),
        (settle(*[(0, "ann", 0)] * (SEATS_MAX + 1)), Reason.SEATS_INVALID),
        (settle(purpose=CLOSED, bets_back=(7,), forfeit_coins=300), Reason.SEATS_INVALID),
        (settle(purpose=CLOSED, bets_back=(1, 1), forfeit_coins=200), Reason.SEATS_INVALID),
        (settle(purpose=CLOSED, bets_back=(1,), forfeit_coins=400), Reason.SUM_MISMATCH),
        (settle(purpose=CLOSED, bets_back=(1,), forfeit_coins=200), Reason.SUM_MISMATCH),
        (settle((0, "ann", 100), purpose=CLOSED, forfeit_coins=300), Reason.PURPOSE_INVALID),
        (settle(purpose=CLOSED, pays_again=(0,), forfeit_coins=500), Reason.PURPOSE_INVALID),
        (settle(purpose=CLOSED, forfeit_coins=399, rounding_coins=1), Reason.PURPOSE_INVALID),
        (settle((0, "ann", 100), purpose=SettlePurpose.ENDED_EARLY, forfeit_coins=300), Reason.PURPOSE_INVALID),
        (settle((0, "ann", 400), bets_back=(1,)), Reason.SUM_MISMATCH),
        (settle((0, "ann", 500), bets_back=(1,), pays_again=(1,)), Reason.SEATS_INVALID),
    ],
)
def test_a_settle_that_is_not_exactly_the_pot_is_refused(request_: SettleRequest, reason: Reason) -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", None, "bob", None))

    answer = tell(ledger, request_)

    assert (answer.done, answer.reason) == (False, reason)
    assert ledger.balances[pot("t")] == 400


@pytest.mark.ruling("TL-37")
def test_who_took_a_seat_over_can_be_paid_and_the_reserve_goes_to_who_paid_it() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", "bob"))

    answer = tell(ledger, settle((0, "eve", 200), present_holders=("eve",)))

    assert answer.balances == {"ann": 900, "bob": 900, "eve": 200}
    assert ledger.staked == {player("ann"): 0, player("bob"): 0}


@pytest.mark.ruling("TL-24")
def test_a_pot_can_be_forfeited_whole_and_the_reserves_go_back() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", "bob"))

    assert tell(ledger, settle(purpose=CLOSED, forfeit_coins=200)).balances == {"ann": 900, "bob": 900}
    assert ledger.balances[FORFEIT] == 200


@pytest.mark.ruling("TL-37")
@pytest.mark.parametrize("purpose", [CLOSED, SettlePurpose.ENDED_EARLY])
def test_who_stayed_gets_the_bet_back_and_who_quit_loses_it(purpose: SettlePurpose) -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", None, "bob", None))

    decision = _decided(ledger, settle(purpose=purpose, bets_back=(0, 1, 3), forfeit_coins=100))

    assert decision.answer == WalletAnswer(True, balances={"ann": 1000, "bob": 900})
    assert Posting(player("ann"), 100, EntryReason.BET_BACK) in decision.postings
    assert (ledger.balances[FORFEIT], ledger.balances[BOTS]) == (100, 0)
    assert ledger.balances[pot("t")] == ledger.balances[reserve("t")] == 0


@pytest.mark.ruling("TL-21")
def test_the_coin_that_does_not_divide_goes_to_the_rounding_account() -> None:
    ledger = rich("ann", "bob", "cid")
    tell(ledger, stake("ann", "bob", "cid", bet_coins=25))

    answer = tell(ledger, settle((0, "ann", 37), (1, "bob", 37), rounding_coins=1))

    assert answer.balances == {"ann": 1012, "bob": 1012, "cid": 975}
    assert ledger.balances[ROUNDING] == 1


def test_a_refund_gives_everything_back() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", None, "bob"))

    assert tell(ledger, refund()).balances == {"ann": 1000, "bob": 1000}
    assert ledger.balances[BOTS] == 0
    assert ledger.balances[pot("t")] == ledger.balances[reserve("t")] == 0


def test_a_stake_that_was_refunded_before_it_came_is_cancelled() -> None:
    ledger = rich("ann", "bob")

    assert tell(ledger, refund()).done
    answer = tell(ledger, stake("ann", "bob"))

    assert (answer.done, answer.reason) == (False, Reason.STAKE_CANCELLED)
    assert tell(ledger, settle((0, "ann", 200))).reason == Reason.STAKE_CANCELLED


def test_after_a_settle_nothing_of_the_stake_moves_again() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", "bob"))
    tell(ledger, settle((0, "ann", 200)))
    before = dict(ledger.balances)

    assert tell(ledger, refund()).reason == Reason.ALREADY_SETTLED
    assert tell(ledger, settle((1, "bob", 200), key="other")).reason == Reason.ALREADY_SETTLED
    assert ledger.balances == before


def test_after_a_refund_a_settle_is_refused_and_another_refund_has_nothing_to_do() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", "bob"))
    tell(ledger, refund())
    before = dict(ledger.balances)

    assert tell(ledger, settle((0, "ann", 200))).reason == Reason.STAKE_CANCELLED
    assert tell(ledger, refund(key="other")).done
    assert ledger.balances == before


def test_a_refund_of_a_refused_stake_is_done_and_moves_nothing() -> None:
    ledger = rich("ann")
    assert not tell(ledger, stake("ann", "poor")).done

    assert _decided(ledger, refund()) == Decision(WalletAnswer(True), closes="stake")
    assert ledger.balances[player("ann")] == 1000
    assert tell(ledger, refund(key="other")) == WalletAnswer(True)


def test_as_many_shares_as_there_can_be_seats_are_paid() -> None:
    ledger = rich("ann")
    tell(ledger, stake("ann", *[None] * (SEATS_MAX - 1)))

    assert tell(ledger, settle(*[(seat, None, BET) for seat in range(SEATS_MAX)])).done


@pytest.mark.ruling("TL-37")
@pytest.mark.parametrize("purpose", [SettlePurpose.ROUND_ENDED, SettlePurpose.GAME_ENDED])
def test_a_bet_can_go_back_beside_what_others_win(purpose: SettlePurpose) -> None:
    ledger = rich("ann", "bob", "cid")
    tell(ledger, stake("ann", "bob", "cid"))

    answer = tell(ledger, settle((0, "ann", 200), purpose=purpose, bets_back=(1,)))

    assert answer.balances == {"ann": 1100, "bob": 1000, "cid": 900}


def test_what_the_database_knows_counts_as_if_it_had_been_decided_just_now() -> None:
    asked = stake("ann")
    granted = EarlierAnswer(keyed(asked).request_hash, WalletAnswer(True, balances={"ann": 7}), asked)
    known = LedgerView(balances={player("ann"): 1000, pot("t"): 100, reserve("t"): 100}, answered={"stake": granted})

    assert tell(known, asked) == granted.answer
    assert tell(known, settle((0, "ann", 100))).done
    assert tell(LedgerView(closed={"stake": TransferKind.REFUND}), asked).reason == Reason.STAKE_CANCELLED
    assert tell(LedgerView(closed={"stake": TransferKind.SETTLE}), refund()).reason == Reason.ALREADY_SETTLED


def test_nobody_has_anything_before_he_was_ever_seen() -> None:
    assert (LedgerView().total(player("eve")), LedgerView().available(player("eve"))) == (0, 0)


@pytest.mark.parametrize(("account", "is_one"), [(player("ann"), True), (BOTS, False), (pot("t"), False)])
def test_accounts_of_people_are_told_from_others(account: str, *, is_one: bool) -> None:
    assert is_player(account) is is_one


# Stored with each key for ever: a repeat that is asked after an update of ours must still be known as one.
@pytest.mark.parametrize(
    ("request_", "request_hash"),
    [
        (stake("ann", None), "7e56f29493827ca1e1232b161bf1e87692b7f0149b061c8d496cfbe6749552f7"),
        (settle((0, "ann", 200), pays_again=(1,)), "6b2dd15de900c9505c23a6d120fb0264a2e2256c2b15f31405ebffcd72187c2a"),
        (
            settle(purpose=CLOSED, bets_back=(0,), forfeit_coins=100),
            "c68356bd9a073076f15fff90e1d6c206af950fb16ddf273ffd0e828e95770a02",
        ),
        (refund(), "735a791b98e359e37b3d6769249c5d67469a6d1573ce05edda88a04f398db064"),
        (grant("ann", "top_up"), "e8445ad28a6530ae57ed9106d2ed14bd8cce389857a21059d5062e57a2e48c6c"),
    ],
)
def test_a_request_has_the_same_hash_for_ever(request_: TransferRequest, request_hash: str) -> None:
    found = keyed(request_)

    assert found.request_hash.hex() == request_hash
    assert msgspec.json.decode(found.body, type=type(request_)) == request_


def test_a_refund_of_what_is_no_stake_of_this_table_is_refused() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", "bob"))
    tell(ledger, grant("eve", "new_account", key="grant"))

    assert tell(ledger, refund(table_id="other")).reason == Reason.STAKE_UNKNOWN
    assert tell(ledger, refund(key="r2", stake_key="grant")).reason == Reason.STAKE_UNKNOWN


def test_a_key_gets_its_first_answer_for_ever_and_no_other_request() -> None:
    ledger = rich("ann", "bob")
    first = tell(ledger, stake("ann", "bob"))
    tell(ledger, settle((0, "ann", 200)))

    assert tell(ledger, stake("ann", "bob")) == first
    assert tell(ledger, stake("ann", "bob", bet_coins=50)).reason == Reason.KEY_REUSED
    assert tell(ledger, refund(key="stake")).reason == Reason.KEY_REUSED


def test_a_refusal_is_kept_with_its_key_too() -> None:
    ledger = rich("ann")
    refused = tell(ledger, stake("ann", "bob"))
    tell(ledger, grant("bob", "new_account"))

    assert tell(ledger, stake("ann", "bob")) == refused
    assert tell(ledger, stake("ann", "bob", key="later")).done


@pytest.mark.ruling("TL-23")
def test_a_top_up_counts_the_coins_at_tables_and_comes_once_a_day() -> None:
    ledger = LedgerView(balances={player("ann"): 40, BANK: -40}, staked={player("ann"): 25})

    answer = tell(ledger, grant("ann", "top_up"))

    assert answer.balances == {"ann": 950}
    assert ledger.total(player("ann")) == 1000
    ledger.balances[player("ann")] = 0
    ledger.staked.clear()
    assert tell(ledger, grant("ann", "top_up", key="again")).reason == Reason.ALREADY_GRANTED


@pytest.mark.ruling("TL-23")
@pytest.mark.parametrize(
    ("balance", "staked", "given"), [(99, 0, True), (100, 0, False), (0, 50, False), (1, 49, True)]
)
def test_a_top_up_needs_less_than_a_hundred_in_all(balance: int, staked: int, *, given: bool) -> None:
    ledger = LedgerView(balances={player("ann"): balance}, staked={player("ann"): staked})

    assert tell(ledger, grant("ann", "top_up")).done is given


@pytest.mark.ruling("TL-23")
def test_a_new_account_is_granted_once_whatever_the_key() -> None:
    ledger = LedgerView()

    assert tell(ledger, grant("ann", "new_account")).balances == {"ann": 5000}
    assert tell(ledger, grant("ann", "new_account", key="other")).reason == Reason.ALREADY_GRANTED
    assert ledger.balances == {BANK: -5000, player("ann"): 5000}


# CP-34, with the bet of its text for b = 100: who has what after a round, and what the house got.
@pytest.mark.ruling("CP-34")
@pytest.mark.parametrize(
    ("round_", "after", "house"),
    [
        pytest.param(settle((0, "ann", 200), (2, "cid", 200)), (1100, 900, 1100, 900), 0, id="a win: 2b each"),
        pytest.param(
            settle((0, "ann", 300), (2, "cid", 300), pays_again=(1, 3)),
            (1200, 800, 1200, 800),
            0,
            id="all thirteen: the losers pay again, 3b each",
        ),
        pytest.param(
            settle((0, "ann", 200), forfeit_coins=200),
            (1100, 900, 900, 900),
            200,
            id="a winner away at the end: his share to the house, not to his partner",
        ),
        pytest.param(
            settle((0, "ann", 300), pays_again=(1, 3), forfeit_coins=300),
            (1200, 800, 900, 800),
            300,
            id="all thirteen with a winner away",
        ),
    ],
)
def test_the_coins_of_a_round_of_court_piece(round_: SettleRequest, after: tuple[int, ...], house: int) -> None:
    ledger = rich("ann", "bob", "cid", "dan")
    tell(ledger, stake("ann", "bob", "cid", "dan"))

    assert tell(ledger, round_).done

    assert tuple(ledger.balances[player(name)] for name in ("ann", "bob", "cid", "dan")) == after
    assert ledger.balances.get(FORFEIT, 0) == house
    assert ledger.balances[pot("t")] == ledger.balances[reserve("t")] == 0
    again = dict(ledger.balances)
    assert tell(ledger, round_).done, "posting it twice is a no-op"
    assert ledger.balances == again


@pytest.mark.ruling("CP-34")
def test_a_bot_wins_for_the_bots_account_and_pays_again_from_it() -> None:
    ledger = rich("ann", "bob")
    tell(ledger, stake("ann", None, "bob", None))

    tell(ledger, settle((1, None, 300), (3, None, 300), pays_again=(0, 2)))

    assert (ledger.balances[player("ann")], ledger.balances[player("bob")]) == (800, 800)
    assert ledger.balances[BOTS] == 400
