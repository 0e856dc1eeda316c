"""When coins are asked for, shared and given back. The wallet decides; open this when a pot is wrong."""

from __future__ import annotations

from uuid import UUID, uuid5

from darbar_contracts.wallet import RefundPurpose, SettlePurpose
from darbar_rules.coins import Shares
from darbar_rules.coins import shares as shares_of
from darbar_rules.game import RoundResult
from darbar_table.domain import events
from darbar_table.domain.commands import Draft
from darbar_table.domain.life import seats
from darbar_table.domain.state import Table


def key(table: Table, phase: str, generation: int) -> str:
    """The permanent key of one request: only a retry of the same one uses it again."""
    name = f"{generation}/{table.table_id}/{table.game}/{table.round}/{table.attempt}/{phase}"
    return str(uuid5(UUID(table.table_id), name))


def ask_stakes(draft: Draft) -> None:
    """TL-12, TL-19: every seat's bet, all or none."""
    table = draft.table
    game_wide = table.rules.stake_unit == "game"
    draft.add(
        events.StakesAsked(
            key=key(table, "stake", draft.context.settings.generation),
            unit=f"g{table.game}" if game_wide else f"g{table.game}.r{table.round}",
            attempt=table.attempt,
            bet_coins=table.terms.bet_coins,
        )
    )


def ask_settle(draft: Draft, result: RoundResult) -> None:
    """TL-20..22, CP-34: a stake unit has ended, and its winners share the pot, less what goes back (TL-37)."""
    table = draft.table
    bet, back = table.terms.bet_coins, _bets_back(table)
    _ask(
        draft,
        SettlePurpose.GAME_ENDED if result.game_over else SettlePurpose.ROUND_ENDED,
        shares_of(result, bet_coins=bet, away=seats.away(table), given_back_coins=bet * len(back)),
        bets_back=back,
    )


def ask_close(draft: Draft) -> None:
    """TL-24: nobody is left inside a stake unit. What does not go back to who gave up waiting (TL-37) is forfeited."""
    back = _bets_back(draft.table)
    _ask(draft, SettlePurpose.TABLE_CLOSED, _forfeited(draft.table, back), bets_back=back)


def ask_back(draft: Draft) -> None:
    """TL-39: every bet goes back, but for those of players who have quit (TL-37)."""
    table = draft.table
    staking = table.staking
    assert staking is not None
    entitled = {None, *table.accounts, *staking.given_up}
    back = tuple(number for number, account in enumerate(staking.stakers) if account in entitled)
    if len(back) == len(table.seats):
        ask_refund(draft, RefundPurpose.ENDED_EARLY)
    else:
        _ask(draft, SettlePurpose.ENDED_EARLY, _forfeited(table, back), bets_back=back)


def ask_refund(draft: Draft, purpose: RefundPurpose) -> None:
    """Everything of the unit goes back, also where the wallet has not yet answered to the stake."""
    staking = draft.table.staking
    assert staking is not None
    draft.add(
        events.RefundAsked(
            purpose=purpose,
            key=key(draft.table, "refund", draft.context.settings.generation),
            stake_key=staking.key,
            unit=staking.unit,
        )
    )


def _forfeited(table: Table, back: tuple[int, ...]) -> Shares:
    """Nobody wins: what does not go back is forfeited."""
    nothing = (0,) * len(table.seats)
    return Shares(nothing, nothing, table.terms.bet_coins * (len(table.seats) - len(back)), rounding_coins=0)


def _ask(draft: Draft, purpose: SettlePurpose, shared: Shares, *, bets_back: tuple[int, ...]) -> None:
    staking = draft.table.staking
    assert staking is not None
    draft.add(
        events.SettleAsked(
            key=key(draft.table, "settle", draft.context.settings.generation),
            stake_key=staking.key,
            unit=staking.unit,
            purpose=purpose,
            shares=shared.won_coins,
            pays_again=tuple(number for number, coins in enumerate(shared.paid_again_coins) if coins),
            forfeit_coins=shared.forfeit_coins,
            rounding_coins=shared.rounding_coins,
            bets_back=bets_back,
        )
    )


def _bets_back(table: Table) -> tuple[int, ...]:
    """The seats whose stakers gave up waiting."""
    staking = table.staking
    assert staking is not None
    return tuple(number for number, account in enumerate(staking.stakers) if account in staking.given_up)


class SettleRefused(Exception):
    """The wallet does not accept our sum: a fault of ours, so the table is frozen and nothing is guessed."""
