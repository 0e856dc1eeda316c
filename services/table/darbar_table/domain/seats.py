"""Sitting down, leaving, bots in seats. Each function is one command; TL numbers are those of docs/tables.md."""

from __future__ import annotations

from darbar_contracts.frames import Leave, SendBotAway, Sit, StartNow, TableReason
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Draft
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Seat, Table

BOT_NAMES = ("Zara", "Omar", "Laila", "Bashir", "Nur", "Tariq", "Samira", "Idris", "Yasmin", "Hamza", "Dalia", "Karim")
STAKES_FACTOR = 2
RUNNING = (Phase.STAKING, Phase.PLAYING, Phase.SETTLING, Phase.REFUNDING)


def sit(draft: Draft, act: Act, frame: Sit) -> None:
    """TL-4, TL-6, TL-32: a free seat, or one that is only kept for somebody absent."""
    table = draft.table
    if table.seat_of(act.person.account_id) is not None:
        raise refused(TableReason.ALREADY_SEATED)
    refuse_the_short(act.balance_coins, table.terms.bet_coins)
    number = _next_seat(table) if frame.seat is None else _asked_seat(table, frame.seat)
    kept = table.seats[number]
    if kept.player is not None:
        _free(draft, number, reason="not_back", quits=_is_quit(table))
    draft.add(
        events.SeatTaken(
            seat=number,
            account_id=act.person.account_id,
            name=act.person.name,
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
    if table.phase in RUNNING or table.phase is Phase.OPENING_SEEDS:
        raise refused(Refusal.NOT_NOW)
    if table.full:
        if table.phase is not Phase.COUNTING_IN or table.round != 1:
            raise refused(Refusal.NOT_NOW)
        draft.add(events.StartAsked(seat=seat, id=frame.id, digest=act.digest))
        return
    empty = [number for number, other in enumerate(table.seats) if other.free and not other.bot_barred]
    if not empty:
        raise refused(Refusal.NOT_NOW)
    draft.add(events.StartAsked(seat=seat, id=frame.id, digest=act.digest))
    taken = {other.bot for other in table.seats}
    names = [name for name in BOT_NAMES if name not in taken]
    for number, name in zip(empty, names, strict=False):
        draft.add(events.BotSeated(seat=number, name=name))


def send_bot_away(draft: Draft, seat: int, act: Act, frame: SendBotAway) -> None:
    """TL-25: only that bot goes, and never during a round."""
    table = draft.table
    if not 0 <= frame.seat < len(table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    if table.phase in RUNNING or table.phase is Phase.OPENING_SEEDS:
        raise refused(TableReason.ROUND_RUNNING)
    if table.seats[frame.seat].bot is None:
        raise refused(TableReason.NOT_A_BOT)
    draft.add(events.BotSentAway(seat=frame.seat, by_seat=seat, id=frame.id, digest=act.digest))


def leave(draft: Draft, seat: int, act: Act, frame: Leave) -> None:
    """TL-11, TL-14, TL-29, TL-35, TL-37, TL-38: at once between rounds, at its end during one."""
    table = draft.table
    if table.phase in RUNNING:
        if not table.seats[seat].left:
            draft.add(events.PlayerLeft(seat=seat, id=frame.id, digest=act.digest))
        return
    quits = table.staked and table.counted
    _free(draft, seat, reason="left", quits=quits, id=frame.id, digest=act.digest)


def leave_alone(draft: Draft, account_id: str) -> None:
    """TL-7: a host without company goes to another table; with company, or when a game has begun, nothing happens."""
    table = draft.table
    alone = [number for number, seat in enumerate(table.seats) if not seat.free]
    seat = table.seat_of(account_id)
    if seat is None or alone != [seat] or table.phase is not Phase.WAITING or table.started:
        return
    _free(draft, seat, reason="left", quits=False)


def keep_expired(draft: Draft, seat: int, since: int) -> None:
    """TL-32, TL-36, TL-38: not back in time."""
    table = draft.table
    held = table.seats[seat]
    if held.player is None or held.online or held.since != since or table.phase is not Phase.WAITING:
        return
    _free(draft, seat, reason="not_back", quits=_is_quit(table))


def free_after_round(draft: Draft) -> None:
    """TL-31: away by Leave when a round ended; the seat is freed and a quit recorded."""
    for number, seat in enumerate(draft.table.seats):
        if seat.player is not None and seat.left:
            _free(draft, number, reason="left", quits=_is_quit(draft.table))


def free_after_game(draft: Draft) -> None:
    """TL-34: not here when the game ended; no quit."""
    for number, seat in enumerate(draft.table.seats):
        if seat.away:
            _free(draft, number, reason="game_over", quits=False)


def free_the_short(draft: Draft, short: tuple[int, ...]) -> None:
    """TL-12: who lacks the coins is stood up."""
    for number in short:
        if draft.table.seats[number].player is not None:
            _free(draft, number, reason="short_of_coins", quits=False)


def free_after_refund(draft: Draft) -> None:
    """TL-14: Leave while stakes were asked; everything has gone back."""
    for number, seat in enumerate(draft.table.seats):
        if seat.player is not None and seat.left:
            _free(draft, number, reason="left", quits=False)


def longest_seated(table: Table) -> int:
    """Who becomes host (TL-8)."""
    return min(table.people, key=lambda number: table.seats[number].since)


def can_be_taken(table: Table, seat: Seat) -> bool:
    """Free, or kept for somebody absent while a game waits (TL-32)."""
    kept_in_game = seat.player is not None and not seat.online and table.started and table.phase is Phase.WAITING
    return seat.free or kept_in_game


def _is_quit(table: Table) -> bool:
    """Absence counts as a quit inside a game that counts (TL-28)."""
    return table.started and table.counted


def _free(draft: Draft, seat: int, *, reason: str, quits: bool, id: str | None = None, digest: int = 0) -> None:
    player = draft.table.seats[seat].player
    assert player is not None
    draft.add(
        events.SeatFreed(
            seat=seat,
            account_id=player.account_id,
            reason=reason,  # type: ignore[arg-type]
            quit=quits,
            id=id,
            digest=digest,
        )
    )


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
    free = [number for number in order if table.seats[number].free]
    kept = [number for number in order if can_be_taken(table, table.seats[number])]
    if not kept:
        raise refused(TableReason.TABLE_FULL)
    return (free or kept)[0]
