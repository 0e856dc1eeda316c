"""What a request does to the ledger. Open this when coins go to the wrong account, or a refusal is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import (
    AdjustRequest,
    GrantRequest,
    RefundRequest,
    SettlePurpose,
    SettleRequest,
    StakeRequest,
    WalletAnswer,
)
from darbar_wallet.domain.ledger_view import Decision, LedgerView
from darbar_wallet.domain.transfers import (
    BANK,
    FORFEIT,
    ROUNDING,
    EntryReason,
    KeyedRequest,
    Posting,
    TransferKind,
    player,
    pot,
    reserve,
)

# Far above the highest bet of a table, far below what a sum could overflow.
BET_COINS_MAX = 1_000_000
ADJUSTMENT_COINS_MAX = 1_000_000
# Kings and Rebels seats twelve.
SEATS_MAX = 16


class GrantTerms(msgspec.Struct, frozen=True):
    """What the house gives."""

    new_account_coins: int = 5000
    top_up_to_coins: int = 1000
    top_up_below_coins: int = 100


def decide(wanted: KeyedRequest, ledger: LedgerView, terms: GrantTerms) -> Decision:
    """What is answered and posted. A key that was answered before gets that answer; refusals are answers too."""
    request = wanted.request
    earlier = ledger.answered.get(request.key)
    if earlier is not None:
        answer = earlier.answer if earlier.request_hash == wanted.request_hash else _no(Reason.KEY_REUSED)
        return Decision(answer, is_new=False)
    match request:
        case StakeRequest():
            return _stake(request, ledger)
        case SettleRequest():
            return _settle(request, ledger)
        case RefundRequest():
            return _refund(request, ledger)
        case GrantRequest():
            return _grant(request, ledger, terms)
        case AdjustRequest():
            return _adjust(request, ledger)


def _stake(request: StakeRequest, ledger: LedgerView) -> Decision:
    bet = request.bet_coins
    people = [seat.account_id for seat in request.seats if seat.account_id is not None]
    if request.key in ledger.closed:
        return _refused(Reason.STAKE_CANCELLED)
    if not 1 <= bet <= BET_COINS_MAX:
        return _refused(Reason.AMOUNT_INVALID)
    if not _seats_are_possible(request, people):
        return _refused(Reason.SEATS_INVALID)
    short = tuple(account_id for account_id in people if ledger.available(player(account_id)) < 2 * bet)
    if short:
        balances = {account_id: ledger.available(player(account_id)) for account_id in people}
        return Decision(WalletAnswer(False, Reason.SHORT_OF_COINS, short, balances))
    lines = _PostingLines()
    for seat in request.seats:
        lines.move(bet, player(seat.account_id), pot(request.table_id), EntryReason.BET)
        lines.move(bet, player(seat.account_id), reserve(request.table_id), EntryReason.RESERVE)
    return lines.decision(ledger, people)


def _seats_are_possible(request: StakeRequest, people: Sequence[str]) -> bool:
    seats = {seat.seat for seat in request.seats}
    return 1 <= len(request.seats) <= SEATS_MAX and len(seats) == len(request.seats) and len(set(people)) == len(people)


def _settle(request: SettleRequest, ledger: LedgerView) -> Decision:
    match ledger.closed.get(request.stake_key):
        case None:
            pass
        case TransferKind.REFUND:
            return _refused(Reason.STAKE_CANCELLED)
        case _:
            return _refused(Reason.ALREADY_SETTLED)
    stake = ledger.stake(request.stake_key)
    if stake is None or not _is_of(stake, request):
        return _refused(Reason.STAKE_UNKNOWN)
    reason = _settle_refusal(request, stake)
    return _refused(reason) if reason is not None else _shared_out(request, stake, ledger)


def _settle_refusal(request: SettleRequest, stake: StakeRequest) -> Reason | None:
    named = (*request.pays_again, *request.bets_back)
    if not {seat.seat for seat in stake.seats}.issuperset(named) or len(set(named)) != len(named):
        return Reason.SEATS_INVALID
    if len(request.shares) > SEATS_MAX:
        return Reason.SEATS_INVALID
    if not _purpose_is_kept(request):
        return Reason.PURPOSE_INVALID
    coins = [*(share.coins for share in request.shares), request.forfeit_coins, request.rounding_coins]
    if min(coins) < 0:
        return Reason.AMOUNT_INVALID
    payees = {seat.account_id for seat in stake.seats} | set(request.present_holders) | {None}
    if not payees.issuperset(share.account_id for share in request.shares):
        return Reason.PAYEE_UNKNOWN
    if sum(coins) != stake.bet_coins * (len(stake.seats) + len(request.pays_again) - len(request.bets_back)):
        return Reason.SUM_MISMATCH
    return None


def _purpose_is_kept(request: SettleRequest) -> bool:
    """Only a round or a game has winners (TL-24, TL-39)."""
    has_winners = request.purpose in (SettlePurpose.ROUND_ENDED, SettlePurpose.GAME_ENDED)
    return has_winners or not (request.shares or request.pays_again or request.rounding_coins)


def _shared_out(request: SettleRequest, stake: StakeRequest, ledger: LedgerView) -> Decision:
    here, held = pot(stake.table_id), reserve(stake.table_id)
    lines = _PostingLines()
    for seat in stake.seats:
        if seat.seat in request.pays_again:
            lines.move(stake.bet_coins, held, here, EntryReason.PAYS_AGAIN)
        else:
            lines.move(stake.bet_coins, held, player(seat.account_id), EntryReason.RESERVE_BACK)
        if seat.seat in request.bets_back:
            lines.move(stake.bet_coins, here, player(seat.account_id), EntryReason.BET_BACK)
    for share in request.shares:
        lines.move(share.coins, here, player(share.account_id), EntryReason.SHARE)
    lines.move(request.forfeit_coins, here, FORFEIT, EntryReason.FORFEIT)
    lines.move(request.rounding_coins, here, ROUNDING, EntryReason.ROUNDING)
    people = {seat.account_id: None for seat in stake.seats} | {share.account_id: None for share in request.shares}
    return lines.decision(ledger, people, closes=request.stake_key)


def _refund(request: RefundRequest, ledger: LedgerView) -> Decision:
    match ledger.closed.get(request.stake_key):
        case TransferKind.SETTLE:
            return _refused(Reason.ALREADY_SETTLED)
        case TransferKind.REFUND:
            # All is back already: that is what was asked for.
            return Decision(WalletAnswer(True))
    earlier = ledger.answered.get(request.stake_key)
    if earlier is None:
        return Decision(WalletAnswer(True), closes=request.stake_key)
    if earlier.stake is None or not _is_of(earlier.stake, request):
        return _refused(Reason.STAKE_UNKNOWN)
    stake = earlier.stake
    if not earlier.answer.done:
        return Decision(WalletAnswer(True), closes=request.stake_key)
    lines = _PostingLines()
    for seat in stake.seats:
        lines.move(stake.bet_coins, pot(stake.table_id), player(seat.account_id), EntryReason.BET_BACK)
        lines.move(stake.bet_coins, reserve(stake.table_id), player(seat.account_id), EntryReason.RESERVE_BACK)
    people = [seat.account_id for seat in stake.seats]
    return lines.decision(ledger, people, closes=request.stake_key)


def _grant(request: GrantRequest, ledger: LedgerView, terms: GrantTerms) -> Decision:
    to = player(request.account_id)
    lines = _PostingLines()
    if request.kind == "new_account":
        if request.account_id in ledger.granted_new_account:
            return _refused(Reason.ALREADY_GRANTED)
        lines.move(terms.new_account_coins, BANK, to, EntryReason.NEW_ACCOUNT)
        return lines.decision(ledger, [request.account_id])
    if to not in ledger.balances:
        return _refused(Reason.WALLET_MISSING)
    if request.account_id in ledger.granted_top_up:
        return _refused(Reason.ALREADY_GRANTED)
    if ledger.total(to) >= terms.top_up_below_coins:
        return _refused(Reason.BALANCE_TOO_HIGH)
    lines.move(terms.top_up_to_coins - ledger.total(to), BANK, to, EntryReason.TOP_UP)
    return lines.decision(ledger, [request.account_id])


def _adjust(request: AdjustRequest, ledger: LedgerView) -> Decision:
    to = player(request.account_id)
    if not 1 <= abs(request.coins) <= ADJUSTMENT_COINS_MAX:
        return _refused(Reason.AMOUNT_INVALID)
    if to not in ledger.balances:
        return _refused(Reason.WALLET_MISSING)
    if ledger.available(to) + request.coins < 0:
        return _refused(Reason.SHORT_OF_COINS)
    lines = _PostingLines()
    lines.move(request.coins, BANK, to, EntryReason.ADJUSTMENT)
    return lines.decision(ledger, [request.account_id])


def _is_of(stake: StakeRequest, request: SettleRequest | RefundRequest) -> bool:
    return stake.table_id == request.table_id and stake.unit == request.unit


def _no(reason: Reason) -> WalletAnswer:
    return WalletAnswer(False, reason)


def _refused(reason: Reason) -> Decision:
    return Decision(_no(reason))


class _PostingLines:
    """The lines of one transfer. What goes to one account for one reason is one line; each move sums to zero."""

    def __init__(self) -> None:
        self._coins: dict[tuple[str, EntryReason], int] = {}

    def move(self, coins: int, source: str, target: str, reason: EntryReason) -> None:
        lines = self._coins
        lines[source, reason] = lines.get((source, reason), 0) - coins
        lines[target, reason] = lines.get((target, reason), 0) + coins

    def decision(self, ledger: LedgerView, people: Iterable[str | None], *, closes: str | None = None) -> Decision:
        """All of it, with the people's balances afterwards."""
        postings: list[Posting] = []
        moved: dict[str, int] = {}
        for (account, reason), coins in self._coins.items():
            if coins:
                postings.append(Posting(account, coins, reason))
                moved[account] = moved.get(account, 0) + coins
        balances: dict[str, int] = {}
        for account_id in people:
            if account_id is not None:
                account = player(account_id)
                balances[account_id] = ledger.available(account) + moved.get(account, 0)
        return Decision(WalletAnswer(True, balances=balances), postings=tuple(postings), closes=closes)
