"""When coins are asked for, shared and given back. The wallet decides; open this when a pot is wrong."""

from __future__ import annotations

from uuid import UUID, uuid5

from darbar_contracts.wallet import RefundPurpose, SettlePurpose, WalletAnswer, WalletReason
from darbar_rules.coins import shares as shares_of
from darbar_rules.game import RoundResult
from darbar_table.domain import events, seats
from darbar_table.domain.commands import Draft
from darbar_table.domain.state import Table


def key(table: Table, phase: str, generation: int) -> str:
    """The permanent key of one request: only a retry of the same one uses it again."""
    name = f"{generation}/{table.table_id}/{table.game}/{table.round}/{table.attempt}/{phase}"
    return str(uuid5(UUID(table.table_id), name))


def ask_stakes(draft: Draft, left_out: tuple[int, ...] = ()) -> None:
    """TL-12; inside a unit that is already staked (King) the deal follows at once."""
    table = draft.table
    if table.staked:
        begin_round(draft)
        return
    draft.add(
        events.StakesAsked(
            key=key(table, "stake", draft.context.settings.generation),
            unit=table.unit,
            attempt=table.attempt,
            bet_coins=table.terms.bet_coins,
            left_out=left_out,
        )
    )


def stakes_answered(draft: Draft, answer: WalletAnswer) -> None:
    """Granted: the deal. Refused: the short are stood up, nobody has paid."""
    asked = draft.table.asked
    assert asked is not None
    if not answer.done:
        short = tuple(n for n, s in enumerate(draft.table.seats) if s.player and s.player.account_id in answer.short)
        reason = answer.reason or WalletReason.STAKE_CANCELLED
        draft.add(events.StakesRefused(key=asked.key, reason=reason, short=short))
        seats.free_the_short(draft, short)
        seats.free_after_refund(draft)
        return
    draft.add(events.StakesGranted(key=asked.key))
    if any(seat.left for seat in draft.table.seats):
        ask_refund(draft, RefundPurpose.LEFT_WHILE_STAKING)
    else:
        begin_round(draft)


def begin_round(draft: Draft) -> None:
    """The deal, with the first one of a game the game itself."""
    table = draft.table
    if table.state is None:
        draft.add(events.GameStarted(game=table.game, rules_version=table.rules.rules_version))
    draft.add(events.RoundBegan(game=table.game, round=table.round))
    chance = draft.table.chance
    assert chance is not None
    for event in table.rules.deal(draft.table.state, chance):
        draft.add(events.Played(seat=None, by="table", event=event))


def end_round(draft: Draft, result: RoundResult) -> None:
    """The seeds are shown, then the pot is shared where the unit ends with this round."""
    table = draft.table
    bag = table.bag
    assert bag is not None
    draft.add(
        events.SeedsShown(
            game=table.game,
            round=table.round,
            server_seed=table.server_seed,
            strings={str(n): s.string for n, s in enumerate(table.seats) if s.string is not None},
            left_out=table.left_out,
            filtered=table.filtered,
            bag=bag.number,
            bag_seed=bag.seed if bag.empty else None,
        )
    )
    if result.winners:
        _ask_settle(draft, result)
    else:
        after_round(draft)


def _ask_settle(draft: Draft, result: RoundResult) -> None:
    """TL-20..22, CP-34."""
    table = draft.table
    away = frozenset(number for number, seat in enumerate(table.seats) if seat.away)
    shared = shares_of(result, bet_coins=table.terms.bet_coins, away=away)
    assert table.stake_key is not None
    draft.add(
        events.SettleAsked(
            key=key(table, "settle", draft.context.settings.generation),
            stake_key=table.stake_key,
            unit=table.unit,
            purpose=SettlePurpose.GAME_ENDED if result.game_over else SettlePurpose.ROUND_ENDED,
            shares=shared.won_coins,
            pays_again=tuple(number for number, coins in enumerate(shared.paid_again_coins) if coins),
            forfeit_coins=shared.forfeit_coins,
            rounding_coins=shared.rounding_coins,
        )
    )


def forfeit(draft: Draft) -> None:
    """TL-24: nobody is left inside a stake unit. The pot goes to the forfeit account, reserves go back."""
    table = draft.table
    assert table.stake_key is not None
    draft.add(
        events.SettleAsked(
            key=key(table, "settle", draft.context.settings.generation),
            stake_key=table.stake_key,
            unit=table.unit,
            purpose=SettlePurpose.TABLE_CLOSED,
            shares=(0,) * len(table.seats),
            pays_again=(),
            forfeit_coins=table.terms.bet_coins * len(table.seats),
            rounding_coins=0,
        )
    )


def settle_answered(draft: Draft, answer: WalletAnswer) -> None:
    asked = draft.table.asked
    assert asked is not None
    if not answer.done:
        raise SettleRefused(answer.reason)
    draft.add(events.Settled(key=asked.key))
    after_round(draft)


def after_round(draft: Draft) -> None:
    """Seats of those who left are freed; after the last round of a game, also of those who are away."""
    table = draft.table
    result = table.rules.result(table.state)
    assert result is not None
    if not result.game_over:
        seats.free_after_round(draft)
        return
    names = tuple(seat.player.name if seat.player else seat.bot or "" for seat in table.seats)
    draft.add(events.GameEnded(game=table.game, places=result.places, totals=result.totals, names=names))
    seats.free_after_game(draft)


def ask_refund(draft: Draft, purpose: RefundPurpose) -> None:
    table = draft.table
    assert table.stake_key is not None
    draft.add(
        events.RefundAsked(
            key=key(table, "refund", draft.context.settings.generation),
            stake_key=table.stake_key,
            unit=table.unit,
            purpose=purpose,
        )
    )


def refund_answered(draft: Draft, answer: WalletAnswer) -> None:
    asked = draft.table.asked
    assert asked is not None
    if not answer.done:
        raise SettleRefused(answer.reason)
    draft.add(events.Refunded(key=asked.key))
    seats.free_after_refund(draft)


class SettleRefused(Exception):
    """The wallet does not accept our sum: a fault of ours, so the table is frozen and nothing is guessed."""
