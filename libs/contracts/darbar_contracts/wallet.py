"""What the wallet is asked and what it answers. Open this when coins move."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class WalletReason(StrEnum):
    """Why the wallet refuses. Kept with the key for ever: add one, never rename one."""

    SHORT_OF_COINS = "short_of_coins"
    CANCELLED = "cancelled"
    KEY_REUSED = "key_reused"
    STAKE_UNKNOWN = "stake_unknown"
    ALREADY_SETTLED = "already_settled"
    SUM_MISMATCH = "sum_mismatch"
    PAYEE_UNKNOWN = "payee_unknown"
    ACCOUNT_UNKNOWN = "account_unknown"
    AMOUNT_INVALID = "amount_invalid"


class StakeSeat(msgspec.Struct, frozen=True):
    """One seat of a stake; `account_id` None is a bot, whose coins come from the bots' house account."""

    seat: int
    account_id: str | None


class StakeRequest(msgspec.Struct, frozen=True):
    """Take the bet of every seat into the pot and one more into the reserve: all seats or none.

    `key` is permanent. `unit` names the stake unit (`"g1.r3"`), `attempt` grows with every count-in of it.
    """

    key: str
    table_id: str
    unit: str
    attempt: int
    bet_coins: int
    seats: tuple[StakeSeat, ...]


class Share(msgspec.Struct, frozen=True):
    """Coins for one seat's holder; `account_id` None is the bots' house account."""

    seat: int
    account_id: str | None
    coins: int


class SettleRequest(msgspec.Struct, frozen=True):
    """Share out the pot of a granted stake and release what is left of the reserves to those who paid them.

    `pays_again`: seats whose reserve goes into the pot first. The shares, `forfeit_coins` and `rounding_coins`
    together must be exactly the pot. Payees are stakers of the unit, or `present_holders` (accounts that took a seat
    over).
    """

    key: str
    stake_key: str
    table_id: str
    unit: str
    pays_again: tuple[int, ...]
    shares: tuple[Share, ...]
    forfeit_coins: int = 0
    rounding_coins: int = 0
    present_holders: tuple[str, ...] = ()


class RefundRequest(msgspec.Struct, frozen=True):
    """Give everything of a stake back. Of a stake never made: a later stake with that key answers `cancelled`."""

    key: str
    stake_key: str
    table_id: str
    unit: str


class WalletAnswer(msgspec.Struct, frozen=True):
    """The answer to stake, settle, refund or grant; the same one for ever for the same key and body.

    `short`: the accounts that lack coins. `balances`: the available coins afterwards of the players concerned.
    """

    done: bool
    reason: str | None = None
    short: tuple[str, ...] = ()
    balances: dict[str, int] = {}


class GrantRequest(msgspec.Struct, frozen=True):
    """Coins from the house for a new account (`kind` "new_account") or a daily top-up (`kind` "top_up")."""

    key: str
    account_id: str
    kind: str


class BalancesRequest(msgspec.Struct, frozen=True):
    """Ask for available coins."""

    account_ids: tuple[str, ...]


class BalancesAnswer(msgspec.Struct, frozen=True):
    """Available coins by account; an account that the wallet has never seen is left out."""

    balances: dict[str, int]
