"""Decisions of the game itself: by players, by the clock, by bots. The hot path of the service."""

from __future__ import annotations

from typing import Any

from darbar_contracts.frames import TableReason
from darbar_rules.deal import Chance
from darbar_rules.game import Refusal, RuleRefused
from darbar_table.domain import events
from darbar_table.domain.commands import BotDecided, Decide, Draft
from darbar_table.domain.life import rounds
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Table
from darbar_table.domain.timers import TurnTimer

EXPIRIES_MAX = 5


def decide(draft: Draft, seat: int, command: Decide) -> None:
    """A player's decision; acting takes the seat back from a bot (TL-16, TL-29)."""
    table = draft.table
    if table.phase is not Phase.PLAYING:
        raise refused(Refusal.NOT_NOW)
    rules = table.rules
    turn = rules.turn(table.state)
    is_this_turn = turn.is_named_by(command.round, command.turn, out_of_turn=command.kind in rules.out_of_turn)
    if not is_this_turn or command.game not in (None, table.game):
        raise refused(TableReason.STALE_TURN, game=table.game, round=turn.round, turn=turn.turn)
    produced = rules.decide(table.state, seat, command.decision, _chance(table))
    held = table.seats[seat]
    if held.away or held.bot_plays:
        draft.add(events.PlayerCameBack(seat=seat))
    own = events.Played(seat=seat, by="player", event=produced[0], id=command.id, digest=command.digest)
    _record(draft, produced, own)


def time_is_up(draft: Draft, timer: TurnTimer) -> None:
    """TL-16: the fallback decides for whoever is due; after five in a row a bot takes the seat over."""
    table = draft.table
    if table.phase is not Phase.PLAYING:
        return
    turn = table.rules.turn(table.state)
    if (turn.round, turn.turn) != (timer.round, timer.turn):
        return
    for seat in turn.seats:
        if seat in draft.table.rules.turn(draft.table.state).seats:
            held = draft.table.seats[seat]
            _fall_back(draft, seat, by="bot" if held.played_by_bot else "clock")
            held = draft.table.seats[seat]
            if held.expiries >= EXPIRIES_MAX and not held.bot_plays:
                draft.add(events.BotTookOver(seat=seat))


def bot_decided(draft: Draft, command: BotDecided) -> None:
    """TL-18: an illegal answer, or none, is replaced by the fallback. A late one does nothing."""
    table = draft.table
    if table.phase is not Phase.PLAYING or not table.seats[command.seat].played_by_bot:
        return
    turn = table.rules.turn(table.state)
    if (turn.round, turn.turn) != (command.round, command.turn) or command.seat not in turn.seats:
        return
    if command.decision is not None:
        try:
            produced = table.rules.decide(table.state, command.seat, command.decision, _chance(table))
        except RuleRefused:
            pass
        else:
            _record(draft, produced, events.Played(seat=command.seat, by="bot", event=produced[0]))
            return
    _fall_back(draft, command.seat, by="bot")


def _fall_back(draft: Draft, seat: int, *, by: events.By) -> None:
    table = draft.table
    decision = table.rules.fallback(table.rules.view(table.state, seat))
    produced = table.rules.decide(table.state, seat, decision, _chance(table))
    _record(draft, produced, events.Played(seat=seat, by=by, event=produced[0]))


def _chance(table: Table) -> Chance:
    assert table.running is not None
    return table.running.chance


def _record(draft: Draft, produced: tuple[Any, ...], first: events.Played[Any]) -> None:
    """The decision's event, what follows from it by the rules, and the round's end where it came."""
    draft.add(first)
    for event in produced[1:]:
        draft.add(events.Played(seat=None, by="table", event=event))
    table = draft.table
    result = table.rules.result(table.state)
    if result is not None:
        rounds.end(draft, result)
