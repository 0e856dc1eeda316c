"""A round from its deal to what comes after it, and what the wallet's answers lead to. Open this when a round hangs."""

from __future__ import annotations

from typing import assert_never

from darbar_contracts.refusals import Reason
from darbar_contracts.wallet import RefundPurpose, SettlePurpose, WalletAnswer
from darbar_rules.game import RoundResult
from darbar_table.domain import events
from darbar_table.domain.commands import Draft
from darbar_table.domain.life import seats, stakes


def begin(draft: Draft) -> None:
    """The stakes of the unit, or inside one that is paid for (King) the deal at once."""
    if draft.table.staked:
        _deal(draft)
    else:
        stakes.ask_stakes(draft)


def end(draft: Draft, result: RoundResult) -> None:
    """The seeds are shown, then the pot is shared where the unit ends with this round."""
    show_seeds(draft)
    if result.winners:
        stakes.ask_settle(draft, result)
    else:
        _after(draft)


def show_seeds(draft: Draft) -> None:
    """The round is over, or broken off: everybody may check its deal."""
    table = draft.table
    bag, running = table.bag, table.running
    assert bag is not None
    assert running is not None
    draft.add(
        events.SeedsShown(
            game=table.game,
            round=table.round,
            server_seed=running.server_seed,
            strings={str(number): string for number, string in sorted(running.strings.items())},
            left_out=running.left_out,
            filtered=running.filtered,
            bag=bag.number,
            bag_seed=bag.seed if bag.empty else None,
        )
    )


def wallet_answered(draft: Draft, answer: WalletAnswer) -> None:
    """What was asked says what its answer leads to."""
    asked = draft.table.asked
    match asked:
        case None:
            return
        case events.StakesAsked():
            _stakes_answered(draft, asked, answer)
        case events.SettleAsked():
            _settle_answered(draft, asked, answer)
        case events.RefundAsked():
            _refund_answered(draft, asked, answer)
        case _:
            assert_never(asked)


def _stakes_answered(draft: Draft, asked: events.StakesAsked, answer: WalletAnswer) -> None:
    """Granted: the deal. Refused: the short are stood up, nobody has paid (TL-12)."""
    if not answer.done:
        short = tuple(number for number, account in enumerate(draft.table.accounts) if account in answer.short)
        reason = answer.reason or Reason.STAKE_CANCELLED
        draft.add(events.StakesRefused(key=asked.key, reason=reason, short=short))
        seats.free_the_short(draft, short)
        seats.free_after_staking(draft)
        return
    draft.add(events.StakesGranted(key=asked.key))
    if any(seat.left for seat in draft.table.seats):
        stakes.ask_refund(draft, RefundPurpose.LEFT_WHILE_STAKING)
    else:
        _deal(draft)


def _settle_answered(draft: Draft, asked: events.SettleAsked, answer: WalletAnswer) -> None:
    if not answer.done:
        raise stakes.SettleRefused(answer.reason)
    draft.add(events.Settled(key=asked.key))
    if asked.purpose in (SettlePurpose.ROUND_ENDED, SettlePurpose.GAME_ENDED):
        _after(draft)


def _refund_answered(draft: Draft, asked: events.RefundAsked, answer: WalletAnswer) -> None:
    """A voided table's pot may have been shared while the operator spoke: then that stands."""
    if answer.done:
        draft.add(events.Refunded(key=asked.key))
    elif draft.table.voided and answer.reason == Reason.ALREADY_SETTLED:
        draft.add(events.RefundRefused(key=asked.key, reason=answer.reason))
    else:
        raise stakes.SettleRefused(answer.reason)
    if asked.purpose is RefundPurpose.LEFT_WHILE_STAKING and not draft.table.voided:
        seats.free_after_staking(draft)


def _deal(draft: Draft) -> None:
    """The deal, with the first one of a game the game itself."""
    table = draft.table
    assert table.count_in is not None
    if not table.started:
        draft.add(events.GameStarted(game=table.game, rules_version=table.rules.rules_version))
    draft.add(events.RoundStarted(game=table.game, round=table.round, left_out=table.count_in.unopened))
    running = draft.table.running
    assert running is not None
    for event in table.rules.deal(draft.table.state, running.chance):
        draft.add(events.Played(seat=None, by="table", event=event))


def _after(draft: Draft) -> None:
    """Seats of those who left are freed; after the last round of a game, also of those who are away."""
    table = draft.table
    result = table.rules.result(table.state)
    assert result is not None
    seats.mark_the_idle(draft)
    if result.game_over:
        away = seats.away(draft.table)
        end_game(draft, "played", places=result.places, totals=result.totals)
        seats.free_after_game(draft, away)
    elif not table.ending:
        seats.free_after_round(draft)


def end_early(draft: Draft) -> None:
    """TL-39: the coins of an unfinished unit first, then the game. Whoever had pressed Leave goes without a quit."""
    if draft.table.staked:
        stakes.ask_back(draft)
        return
    left = tuple(number for number, seat in enumerate(draft.table.seats) if seat.left)
    end_game(draft, "ended_early")
    seats.free_after_game(draft, left)


def end_game(
    draft: Draft, reason: events.GameEndReason, *, places: tuple[int, ...] = (), totals: tuple[int, ...] = ()
) -> None:
    """A game that was not played to its end has no places and no totals."""
    table = draft.table
    names = tuple(seat.player.name if seat.player is not None else seat.bot or "" for seat in table.seats)
    draft.add(events.GameEnded(game=table.game, reason=reason, places=places, totals=totals, names=names))
