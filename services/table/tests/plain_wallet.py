"""A wallet in plain words: what an account has, what lies in pots and reserves, and what is refused."""

from __future__ import annotations

from darbar_contracts.wallet import RefundRequest, SettleRequest, StakeRequest, WalletAnswer


class PlainWallet:
    """Every account's coins, and what lies in pots and reserves; refuses as the real one does."""

    def __init__(self, coins: dict[str, int]) -> None:
        self.coins: dict[str | None, int] = {who: coins[who] for who in coins}
        self.coins[None] = 100_000  # Of the bank, which pays for bots.
        self.stakes: dict[str, StakeRequest] = {}
        self.closed: dict[str, str] = {}
        self.first_sum = self.sum

    @property
    def sum(self) -> int:
        lying = sum(2 * one.bet_coins * len(one.seats) for key, one in self.stakes.items() if key not in self.closed)
        return sum(self.coins.values()) + lying

    def asked(self, request: StakeRequest | SettleRequest | RefundRequest) -> WalletAnswer:
        match request:
            case StakeRequest():
                return self._stake(request)
            case SettleRequest():
                return self._settle(request)
            case RefundRequest():
                return self._refund(request)

    def _stake(self, request: StakeRequest) -> WalletAnswer:
        if request.key in self.closed:
            return WalletAnswer(False, "stake_cancelled")
        people = [seat.account_id for seat in request.seats]
        short = tuple(who for who in people if who is not None and self.coins[who] < 2 * request.bet_coins)
        if short:
            return WalletAnswer(False, "short_of_coins", short)
        for who in people:
            self.coins[who] -= 2 * request.bet_coins
        self.stakes[request.key] = request
        return WalletAnswer(True)

    def _settle(self, request: SettleRequest) -> WalletAnswer:
        if request.stake_key in self.closed:
            kind = self.closed[request.stake_key]
            return WalletAnswer(False, "stake_cancelled" if kind == "refund" else "already_settled")
        stake = self.stakes[request.stake_key]
        for seat in stake.seats:
            self.coins[seat.account_id] += stake.bet_coins * (
                (seat.seat not in request.pays_again) + (seat.seat in request.bets_back)
            )
        for share in request.shares:
            self.coins[share.account_id] += share.coins
        self.coins[None] += request.forfeit_coins + request.rounding_coins
        self.closed[request.stake_key] = "settle"
        return WalletAnswer(True)

    def _refund(self, request: RefundRequest) -> WalletAnswer:
        if self.closed.get(request.stake_key) == "settle":
            return WalletAnswer(False, "already_settled")
        stake = self.stakes.get(request.stake_key)
        if stake is not None and request.stake_key not in self.closed:
            for seat in stake.seats:
                self.coins[seat.account_id] += 2 * stake.bet_coins
        self.closed[request.stake_key] = "refund"
        return WalletAnswer(True)
