"""What a table does when it is told something. Pure: time, seeds and balances come in; open this first."""

from __future__ import annotations

from darbar_contracts.frames import (
    Deal,
    ImBack,
    Leave,
    Ready,
    SeedCommit,
    SeedOpen,
    SendBotAway,
    Sit,
    StartNow,
    TableReason,
)
from darbar_rules.game import Refusal
from darbar_table.domain import count_in, create, events, play, seats, stakes
from darbar_table.domain.commands import (
    Act,
    BotDecided,
    ClockRang,
    Command,
    Connected,
    Context,
    Create,
    Disconnected,
    Draft,
    KeepExpired,
    LeaveAlone,
    WalletAnswered,
)
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Table

AUTOMATIC_STEPS_MAX = 8


def decide(table: Table, command: Command, context: Context) -> Draft:
    """The events that follow from a command, and the state after them. Raises Refused or RuleRefused: nothing changes.

    A draft without events means that there was nothing to do (a late clock, say).
    """
    if table.phase is Phase.CLOSED:
        raise refused(TableReason.TABLE_CLOSED)
    draft = Draft(table, context)
    match command:
        case Create():
            if table.version == 0:
                create.create(draft, command)
        case Act():
            _act(draft, command)
        case BotDecided():
            play.bot_decided(draft, command)
        case ClockRang():
            _clock(draft, command)
        case WalletAnswered():
            _wallet(draft, command)
        case Connected():
            _connected(draft, command.account_id)
        case Disconnected():
            _disconnected(draft, command.account_id)
        case KeepExpired():
            seats.keep_expired(draft, command.seat, command.since)
        case LeaveAlone():
            seats.leave_alone(draft, command.account_id)
    if draft.events and draft.table.phase is not Phase.PLAYING:
        _follow(draft)
    return draft


def _act(draft: Draft, act: Act) -> None:
    frame = act.frame
    if isinstance(frame, Sit):
        seats.sit(draft, act, frame)
        return
    seat = draft.table.seat_of(act.person.account_id)
    if seat is None:
        raise refused(TableReason.NOT_SEATED)
    if act.decision is not None:
        play.decide(draft, seat, act)
        return
    match frame:
        case StartNow():
            seats.start_now(draft, seat, act, frame)
        case Ready():
            count_in.ready(draft, seat, act, frame)
        case Deal():
            count_in.deal(draft, seat, act, frame)
        case Leave():
            seats.leave(draft, seat, act, frame)
        case ImBack():
            _back(draft, seat, act)
        case SendBotAway():
            seats.send_bot_away(draft, seat, act, frame)
        case SeedCommit():
            count_in.seed_commit(draft, seat, act, frame)
        case SeedOpen():
            count_in.seed_open(draft, seat, act, frame)
        case _:
            raise refused(TableReason.FRAME_INVALID)


def _back(draft: Draft, seat: int, act: Act) -> None:
    held = draft.table.seats[seat]
    if not (held.away or held.bot_plays or held.expiries):
        raise refused(Refusal.NOT_NOW)
    draft.add(events.PlayerCameBack(seat=seat, id=act.frame.id, digest=act.digest))


def _clock(draft: Draft, rang: ClockRang) -> None:
    """A clock that is not for now does nothing (GEN-4)."""
    table = draft.table
    for_this_count_in = rang.mark == (table.round, table.attempt)
    match rang.kind:
        case "turn":
            play.time_is_up(draft, *rang.mark)
        case "count_in" if table.phase is Phase.COUNTING_IN and for_this_count_in:
            count_in.zero(draft)
        case "seeds" if table.phase is Phase.OPENING_SEEDS and for_this_count_in:
            count_in.seeds_time_is_up(draft)


def _wallet(draft: Draft, command: WalletAnswered) -> None:
    table = draft.table
    if table.asked is None or command.key != table.asked.key:
        return
    match table.phase:
        case Phase.STAKING:
            stakes.stakes_answered(draft, command.answer)
        case Phase.SETTLING:
            stakes.settle_answered(draft, command.answer)
        case Phase.REFUNDING:
            stakes.refund_answered(draft, command.answer)


def _connected(draft: Draft, account_id: str) -> None:
    """A seat that was lost to the connection is its player's again; after Leave only an own action takes it back."""
    seat = draft.table.seat_of(account_id)
    if seat is not None and not draft.table.seats[seat].online:
        draft.add(events.PlayerCameBack(seat=seat))


def _disconnected(draft: Draft, account_id: str) -> None:
    seat = draft.table.seat_of(account_id)
    if seat is not None and draft.table.seats[seat].online:
        draft.add(events.PlayerWentOffline(seat=seat))


def _follow(draft: Draft) -> None:
    """What a table does by itself between rounds: closes, finds a host, stops or starts a count-in."""
    for _ in range(AUTOMATIC_STEPS_MAX):
        before = len(draft.events)
        _follow_once(draft)
        if len(draft.events) == before or draft.table.phase is Phase.PLAYING:
            return
    raise AssertionError("a table did not come to rest")


def _follow_once(draft: Draft) -> None:
    table = draft.table
    waiting = table.phase is Phase.WAITING
    counting_in = table.phase is Phase.COUNTING_IN
    if table.phase is Phase.CLOSED:
        return
    if not table.people and waiting and table.staked:
        stakes.forfeit(draft)
    elif not table.people and waiting:
        draft.add(events.TableClosed(reason="empty"))
    elif table.people and table.seats[table.host].player is None:
        draft.add(events.HostChanged(seat=seats.longest_seated(table)))
    elif (counting_in or table.phase is Phase.OPENING_SEEDS) and not table.full:
        count_in.stop_if_broken(draft, "seat_freed")
    elif counting_in and count_in.everyone_is_ready(table):
        count_in.zero(draft)
    elif waiting and table.full and not any(seat.away for seat in table.seats):
        count_in.start(draft)
