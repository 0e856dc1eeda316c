"""Sitting down, leaving, bots in seats. Each function is one command; TL numbers are those of docs/tables.md."""

from __future__ import annotations

from datetime import datetime, timedelta

from darbar_contracts.bots import BOT_NAMES
from darbar_contracts.frames import Leave, SendBotAway, Sit, StartNow, TableReason
from darbar_contracts.wallet import SettlePurpose
from darbar_kit.names import told_apart
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Draft
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Seat, Table
from darbar_table.domain.timers import KeptSeatTimer

STAKES_FACTOR = 2
RUNNING = (Phase.STAKING, Phase.PLAYING, Phase.SETTLING, Phase.REFUNDING)
ABOUT_TO_DEAL = (Phase.OPENING_SEEDS, *RUNNING)
# Rounds that a bot alone has played for a connected player before the seat counts as away.
BOT_ROUNDS_MAX = 3
# So many count-ins may one account stop between two deals.
STOPS_MAX = 3


def sit(draft: Draft, act: Act, frame: Sit) -> None:
    """TL-4, TL-6, TL-32: a free seat, or one that is only kept for somebody absent. Who looks like another by name is
    shown with a number."""
    table, account_id = draft.table, act.person.account_id
    if table.seat_of(account_id) is not None:
        raise refused(TableReason.ALREADY_SEATED)
    refuse_the_short(act.balance_coins, table.terms.bet_coins)
    _refuse_the_paused(draft, account_id)
    if isinstance(table.asked, events.SettleAsked) and table.asked.purpose is SettlePurpose.TABLE_CLOSED:
        raise refused(TableReason.TABLE_CLOSED)  # TL-33: everybody has left, and the pot is being given up.
    number = _next_seat(table) if frame.seat is None else _asked_seat(table, frame.seat)
    if table.seats[number].player is not None:
        free(draft, number, "taken_over", quits=counts_as_quit(table))
    draft.add(
        events.SeatTaken(
            seat=number,
            account_id=account_id,
            name=told_apart(act.person.name, _names(table)),
            avatar=act.person.avatar,
            id=frame.id,
            digest=act.digest,
        )
    )


def refuse_the_short(balance_coins: int, bet_coins: int) -> None:
    """TL-6: a second bet must be there, for a round that is lost double."""
    if balance_coins < STAKES_FACTOR * bet_coins:
        raise refused(TableReason.SHORT_OF_COINS, needed_coins=STAKES_FACTOR * bet_coins)


def start_now(draft: Draft, seat: int, act: Act, frame: StartNow) -> None:
    """TL-9, TL-27: bots take the empty seats that nobody has held, and the count-in runs; or the first one ends."""
    table = draft.table
    if table.phase in ABOUT_TO_DEAL:
        raise refused(Refusal.NOT_NOW)
    empty = [number for number, other in enumerate(table.seats) if other.free and not other.bot_barred]
    ends_count_in = table.full and table.phase is Phase.COUNTING_IN and table.round == 1
    if not empty and not ends_count_in:
        raise refused(Refusal.NOT_NOW)
    draft.add(events.StartAsked(seat=seat, id=frame.id, digest=act.digest))
    for number in empty:
        seat_bot(draft, number)


def seat_bot(draft: Draft, number: int) -> None:
    """A bot with a name of its own; a seat that was kept for somebody absent is kept no more (TL-32)."""
    if draft.table.seats[number].player is not None:
        free(draft, number, "taken_over", quits=counts_as_quit(draft.table))
    draft.add(events.BotSeated(seat=number, name=_bot_name(_names(draft.table))))


def _names(table: Table) -> tuple[str, ...]:
    """All that people and bots at this table are called."""
    people = tuple(seat.player.name for seat in table.seats if seat.player is not None)
    return people + tuple(seat.bot for seat in table.seats if seat.bot is not None)


def _bot_name(taken: tuple[str, ...]) -> str:
    """The first bot's name that looks like nobody's here."""
    free_names = [name for name in BOT_NAMES if told_apart(name, taken) == name]
    return free_names[0] if free_names else told_apart(BOT_NAMES[0], taken)


def send_bot_away(draft: Draft, seat: int, act: Act, frame: SendBotAway) -> None:
    """TL-25: only that bot goes, and never during a round."""
    table = draft.table
    if not 0 <= frame.seat < len(table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    if table.phase in ABOUT_TO_DEAL:
        raise refused(TableReason.ROUND_RUNNING)
    if table.seats[frame.seat].bot is None:
        raise refused(TableReason.NOT_A_BOT)
    draft.add(events.BotSentAway(seat=frame.seat, actor=seat, id=frame.id, digest=act.digest))


def leave(draft: Draft, seat: int, act: Act, frame: Leave) -> None:
    """TL-11, TL-14, TL-29, TL-35, TL-37, TL-38: at once between rounds, at its end during one."""
    table = draft.table
    if table.phase not in RUNNING:
        free(draft, seat, "left", quits=table.staked and table.counted, act=act)
    elif not table.seats[seat].left:
        draft.add(events.LeaveAsked(seat=seat, id=frame.id, digest=act.digest))


def leave_alone(draft: Draft, account_id: str) -> None:
    """TL-7: a host without company goes to another table; with company, or when a game has begun, nothing happens."""
    table = draft.table
    alone = [number for number, seat in enumerate(table.seats) if not seat.free]
    seat = table.seat_of(account_id)
    if seat is None or alone != [seat] or table.phase is not Phase.WAITING or table.started:
        return
    free(draft, seat, "left")


def keep_is_over(draft: Draft, timer: KeptSeatTimer) -> None:
    """TL-32, TL-36, TL-38: not back in time."""
    table = draft.table
    if table.phase is not Phase.WAITING or timer.in_game != table.started:
        return
    for number, seat in enumerate(table.seats):
        if seat.away and seat.since == timer.since:
            free(draft, number, "not_back", quits=counts_as_quit(table))


def mark_the_idle(draft: Draft) -> None:
    """TL-16: for whom a bot alone has played round after round, that player is away."""
    for number, seat in enumerate(draft.table.seats):
        if seat.player is not None and not seat.away and seat.bot_rounds >= BOT_ROUNDS_MAX:
            draft.add(events.PlayerWentIdle(seat=number))


def free_after_round(draft: Draft) -> None:
    """TL-31: away by Leave when a round ended; the seat is freed and a quit recorded."""
    leaving = [number for number, seat in enumerate(draft.table.seats) if seat.player is not None and seat.left]
    for number in leaving:
        free(draft, number, "left", quits=counts_as_quit(draft.table), in_round=True)


def away(table: Table) -> tuple[int, ...]:
    """Seats whose players are not here, by Leave too."""
    return tuple(number for number, seat in enumerate(table.seats) if seat.away)


def free_after_game(draft: Draft, away: tuple[int, ...]) -> None:
    """TL-34: not here when the game ended; no quit."""
    for number in away:
        free(draft, number, "game_over")


def free_the_short(draft: Draft, short: tuple[int, ...]) -> None:
    """TL-12: who lacks the coins is stood up."""
    for number in short:
        account_id = draft.table.accounts[number]
        if account_id is not None:
            free(draft, number, "short_of_coins")
            pause_the_stopper(draft, account_id)


def free_after_staking(draft: Draft) -> None:
    """TL-14: Leave while stakes were asked; nobody has paid, or everything has gone back."""
    for number, seat in enumerate(draft.table.seats):
        if seat.player is not None and seat.left:
            free(draft, number, "left_while_staking")
            pause_the_stopper(draft, seat.player.account_id)


def pause_the_stopper(draft: Draft, account_id: str) -> None:
    """TL-13: after the third count-in that an account has stopped it loses its seat, and sits again after a pause."""
    table = draft.table
    count = sum(one.count for one in table.stoppers if one.account_id == account_id)
    if count < STOPS_MAX:
        return
    until = draft.context.now() + timedelta(seconds=draft.context.settings.sitting_pause_seconds)
    draft.add(events.SittingPaused(account_id=account_id, until=until))
    seat = table.seat_of(account_id)
    if seat is not None:
        quits = table.seats[seat].away and counts_as_quit(table)
        free(draft, seat, "stopped_count_ins", quits=quits)


def free(
    draft: Draft,
    number: int,
    reason: events.FreedReason,
    *,
    quits: bool = False,
    in_round: bool = False,
    act: Act | None = None,
) -> None:
    """Empty a player's seat. Whoever gives up waiting for somebody else inside a stake unit has not quit (TL-37)."""
    table = draft.table
    player = table.seats[number].player
    assert player is not None
    gave_up = not in_round and _waits_for_another(table, player.account_id)
    draft.add(
        events.SeatFreed(
            seat=number,
            account_id=player.account_id,
            reason=reason,
            quit=quits and not gave_up,
            gave_up=gave_up,
            id=None if act is None else act.id,
            digest=0 if act is None else act.digest,
        )
    )


def longest_seated(table: Table) -> int:
    """Who becomes host (TL-8)."""
    return min(table.people, key=lambda number: table.seats[number].since)


def can_be_taken(table: Table, seat: Seat) -> bool:
    """Free, or kept for somebody absent while a game waits (TL-32)."""
    return seat.free or (seat.away and table.started and table.phase is Phase.WAITING)


def pauses(table: Table, account_id: str, *, now: datetime) -> list[tuple[TableReason, datetime]]:
    """TL-8, TL-13: whom the host has sent away, and who has stopped count-in after count-in, waits before sitting."""
    paused = [(TableReason.SITTING_PAUSED, one.paused_until) for one in table.stoppers if one.account_id == account_id]
    ends = [(TableReason.SENT_AWAY, table.sent_away_until(account_id)), *paused]
    return [(reason, until) for reason, until in ends if until is not None and until > now]


def counts_as_quit(table: Table) -> bool:
    """Absence counts as a quit inside a game that counts (TL-28)."""
    return table.started and table.counted


def _waits_for_another(table: Table, account_id: str) -> bool:
    """TL-37: the stakes lie, and a seat is empty because somebody else left it or sent its bot away."""
    waits = table.staked and table.phase is Phase.WAITING
    return waits and any(seat.emptied_by not in (None, account_id) for seat in table.seats)


def _refuse_the_paused(draft: Draft, account_id: str) -> None:
    now = draft.context.now()
    for reason, until in pauses(draft.table, account_id, now=now):
        raise refused(reason, seconds=round((until - now).total_seconds(), 1))


def _asked_seat(table: Table, number: int) -> int:
    if not 0 <= number < len(table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    if not can_be_taken(table, table.seats[number]):
        raise refused(TableReason.SEAT_TAKEN)
    return number


def _next_seat(table: Table) -> int:
    """TL-4: in team games the host's partner first, then the others; else the lowest free seat."""
    teams = table.rules.partners(table.options, len(table.seats))
    host_team = next((team for team in teams if table.host in team), ())
    order = sorted(range(len(table.seats)), key=lambda number: (number not in host_team, number))
    untaken = [number for number in order if table.seats[number].free]
    kept = [number for number in order if can_be_taken(table, table.seats[number])]
    if not kept:
        raise refused(TableReason.TABLE_FULL)
    return (untaken or kept)[0]
