"""What the wallet is asked and what it answers. Open this when coins move."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

# Keys, tables, units and accounts: what a ledger keeps for ever is plain text.
LedgerName = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9:._-]+$")]

# A page of a player's own ledger.
WALLET_ENTRIES_USUAL = 50
WALLET_ENTRIES_MAX = 200
BALANCES_ACCOUNTS_MAX = 200


class SettlePurpose(StrEnum):
    """Why a pot is shared out. Stored by table and wallet, shown to players: add one, never rename one."""

    ROUND_ENDED = "round_ended"
    GAME_ENDED = "game_ended"  # With its last round (TL-34), or because the unit was the whole game.
    TABLE_CLOSED = "table_closed"  # Inside the unit (TL-24): bets are forfeited, but for those of players who stayed.
    ENDED_EARLY = "ended_early"  # By a vote (TL-39), after somebody had quit: the others' bets go back.


class RefundPurpose(StrEnum):
    """Why a stake goes back whole. Stored by table and wallet, shown to players: add one, never rename one."""

    LEFT_WHILE_STAKING = "left_while_staking"  # TL-14
    VOIDED = "voided"  # TL-24
    ENDED_EARLY = "ended_early"  # TL-39


class StakeSeat(msgspec.Struct, frozen=True, gc=False):
    """One seat of a stake; `account_id` None is a bot, whose coins come from the bots' house account."""

    seat: int
    account_id: LedgerName | None


# Requests leave defaults out when written, so that a field added later changes no hash of a request already answered.
# gc=False: they hold nothing that could lead back to them, and a batch of them would keep the collector busy.
class StakeRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Take the bet of every seat into the pot and one more into the reserve: all seats or none.

    `key` is permanent. `unit` names the stake unit (`"g1.r3"`), `attempt` grows with every count-in of it.
    """

    key: LedgerName
    table_id: LedgerName
    unit: LedgerName
    attempt: int
    bet_coins: int
    seats: tuple[StakeSeat, ...]


class Share(msgspec.Struct, frozen=True, gc=False):
    """Coins for one seat's holder; `account_id` None is the bots' house account."""

    seat: int
    account_id: LedgerName | None
    coins: int


class SettleRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Share out the pot of a granted stake and release what is left of the reserves to those who paid them.

    `pays_again`: seats whose reserve goes into the pot first. `bets_back`: seats whose bet goes back to who paid it.
    These bets, the shares, `forfeit_coins` and `rounding_coins` together must be exactly the pot. Payees are stakers
    of the unit, or `present_holders` (accounts that took a seat over). Only a round or a game has winners: for the
    other purposes bets go back or are forfeited. After a refund of the stake the answer is `stake_cancelled`.
    """

    key: LedgerName
    stake_key: LedgerName
    table_id: LedgerName
    unit: LedgerName
    purpose: SettlePurpose
    pays_again: tuple[int, ...] = ()
    shares: tuple[Share, ...] = ()
    bets_back: tuple[int, ...] = ()
    forfeit_coins: int = 0
    rounding_coins: int = 0
    present_holders: tuple[LedgerName, ...] = ()


class RefundRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Give everything of a stake back. Of a stake never made: a later stake with that key gets `stake_cancelled`."""

    key: LedgerName
    stake_key: LedgerName
    table_id: LedgerName
    unit: LedgerName
    purpose: RefundPurpose


class GrantRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Coins from the house for a new account (once) or a daily top-up; a new account's grant opens its account.

    The wallet itself counts how often. Give every claim of a top-up a key of its own: a refusal is kept with its key,
    so a key made from the day would refuse the rest of that day.
    """

    key: LedgerName
    account_id: LedgerName
    kind: Literal["new_account", "top_up"]


class AdjustRequest(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An administrator puts a player's coins right: `coins` above zero come from the bank, below zero they go back to
    it. Nobody gets below zero. `administrator` and `why` stay with the transfer."""

    key: LedgerName
    account_id: LedgerName
    coins: int
    administrator: LedgerName
    why: str


class WalletAnswer(msgspec.Struct, frozen=True, gc=False):
    """The answer to stake, settle, refund, grant or adjustment; the same one for ever for the same key and body.

    `short`: the accounts that lack coins, among them those that the wallet has never seen. `balances`: the available
    coins afterwards of the players concerned.
    """

    done: bool
    reason: str | None = None
    short: tuple[str, ...] = ()
    balances: dict[str, int] = {}


class BalancesRequest(msgspec.Struct, frozen=True):
    """Ask for available coins."""

    account_ids: Annotated[tuple[LedgerName, ...], msgspec.Meta(max_length=BALANCES_ACCOUNTS_MAX)]


class BalancesAnswer(msgspec.Struct, frozen=True):
    """Available coins by account; an account that the wallet has never seen is left out."""

    balances: dict[str, int]


class WalletEntry(msgspec.Struct, frozen=True):
    """One line of a player's ledger. All of them together are the balance.

    `reason`: bet, reserve, share, reserve_back, bet_back, new_account, top_up, adjustment. `purpose`: why a stake
    ended, a SettlePurpose or a RefundPurpose. `number` grows, with gaps.
    """

    number: int
    coins: int
    reason: str
    unit: str | None
    table_id: str | None
    at: datetime
    purpose: str | None = None


class WalletQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/me/wallet. `before` is the `next_before` of the page before."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=WALLET_ENTRIES_MAX)] = WALLET_ENTRIES_USUAL
    before: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)] | None = None


LineReason = Literal["bet", "reserve", "share", "reserve_back", "bet_back", "new_account", "top_up", "adjustment"]


class EntriesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/me/wallet/entries: the lines for one `reason`, or all. `before` is the last page's `next_before`."""

    reason: LineReason | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=WALLET_ENTRIES_MAX)] = WALLET_ENTRIES_USUAL
    before: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)] | None = None


class EntriesAsTextQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GET /v1/me/wallet/entries.csv."""

    reason: LineReason | None = None


class EntryList(msgspec.Struct, frozen=True):
    """One page of a ledger, newest first; `next_before` None: that was all."""

    entries: tuple[WalletEntry, ...]
    next_before: int | None = None


class AccountWalletRequest(msgspec.Struct, frozen=True):
    """An administrator looks at somebody's wallet; answered with a WalletView."""

    account_id: LedgerName
    query: EntriesQuery = EntriesQuery()


class AuditRequest(msgspec.Struct, frozen=True):
    """Do all coins add up? Answered with the WalletAudit of a pass that began afterwards, when it is quick enough."""


class WalletView(msgspec.Struct, frozen=True):
    """A player's own wallet, newest entries first; `next_before` asks for the page after this one, None at the end.

    `reserved_coins` and `in_pots_coins` lie at tables and are no part of the balance.
    """

    account_id: str
    balance_coins: int
    reserved_coins: int
    in_pots_coins: int
    entries: tuple[WalletEntry, ...]
    next_before: int | None = None


class WalletAudit(msgspec.Struct, frozen=True):
    """Whether the coins add up, in totals only, as found at `at` by reading the first `transfers` of the ledger.

    `balances_match`: every balance is the sum of its entries. `pots_match`: pots and reserves hold what the open stakes
    put there. `stakes_match`: what players are told to have at tables is what they put there.
    """

    at: datetime
    transfers: int
    entries: int
    sum_coins: int
    balances_match: bool
    players_below_zero: int
    transfers_unbalanced: int
    transfers_missing: int
    stakes_open: int
    pots_coins: int
    reserves_coins: int
    pots_match: bool
    stakes_match: bool

    @property
    def is_good(self) -> bool:
        """No coin appeared or vanished, and nobody is below zero."""
        faults = (self.sum_coins, self.players_below_zero, self.transfers_unbalanced, self.transfers_missing)
        return not any(faults) and self.balances_match and self.pots_match and self.stakes_match


class AuditTablesRequest(msgspec.Struct, frozen=True):
    """Does the ledger say of stakes what the tables' logs say? Answered with a TablesAudit, as an AuditRequest is."""


class TablesAudit(msgspec.Struct, frozen=True):
    """Each stake, settle and refund against the logs of `tables`. `unlogged`: transfers that no log has asked for;
    `unpaid`: what a log says was carried out, and no transfer did. `found`: some of them, as table, kind and key."""

    at: datetime
    transfers: int
    tables: int
    unlogged: int
    unpaid: int
    found: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Every stake unit of every log has its transfers, and the other way round."""
        return not (self.unlogged or self.unpaid)
