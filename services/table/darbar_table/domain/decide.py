"""What a table does when it is told something. Pure: time, seeds and balances come in; open this first."""

from __future__ import annotations

from typing import assert_never

from darbar_contracts.frames import (
    AnswerVote,
    AskVote,
    ChangeOptions,
    Deal,
    ImBack,
    Leave,
    Ready,
    SeedCommit,
    SeedOpen,
    SendBotAway,
    SendPlayerAway,
    Sit,
    StartNow,
    TableReason,
)
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import (
    Act,
    BotDecided,
    Command,
    Connected,
    Context,
    Create,
    Decide,
    Disconnected,
    Draft,
    LeaveAlone,
    OperatorAct,
    TimerRang,
    WalletAnswered,
)
from darbar_table.domain.life import count_in, create, operate, play, rounds, seats, sending_away, stakes, votes
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Table
from darbar_table.domain.timers import CountInTimer, KeptSeatTimer, SeedsTimer, Timer, TurnTimer, VoteTimer

AUTOMATIC_STEPS_MAX = 8


def decide(table: Table, command: Command, context: Context) -> Draft:
    """The events that follow from a command, and the state after them. Raises Refused or RuleRefused: nothing changes.

    A draft without events means that there was nothing to do (a late clock, say).
    """
    if table.phase is Phase.CLOSED:
        raise refused(TableReason.TABLE_CLOSED)
    draft = Draft(table, context)
    match command:
        case Decide():
            play.decide(draft, _seat_of(table, command.person.account_id), command)
        case TimerRang():
            _timer_rang(draft, command.timer)
        case BotDecided():
            play.bot_decided(draft, command)
        case Act():
            _act(draft, command)
        case Create():
            if table.version == 0:
                create.create(draft, command)
        case WalletAnswered():
            if table.asked is not None and command.key == table.asked.key:
                rounds.wallet_answered(draft, command.answer)
        case Connected():
            _connected(draft, command.account_id)
        case Disconnected():
            _disconnected(draft, command.account_id)
        case LeaveAlone():
            seats.leave_alone(draft, command.account_id)
        case OperatorAct():
            operate.act(draft, command)
        case _:
            assert_never(command)
    if draft.events and (draft.table.phase is not Phase.PLAYING or draft.table.vote is not None):
        _follow(draft)
    return draft


def _seat_of(table: Table, account_id: str) -> int:
    seat = table.seat_of(account_id)
    if seat is None:
        raise refused(TableReason.NOT_SEATED)
    return seat


def _act(draft: Draft, act: Act) -> None:
    frame = act.frame
    if isinstance(frame, Sit):
        seats.sit(draft, act, frame)
        return
    seat = _seat_of(draft.table, act.person.account_id)
    if isinstance(frame, AskVote | AnswerVote):
        # Before the vote: what is agreed may change who sits there.
        _take_back(draft, seat)
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
        case SendPlayerAway():
            sending_away.send_player_away(draft, seat, act, frame)
        case AskVote():
            votes.ask(draft, seat, act, frame)
        case AnswerVote():
            votes.answer(draft, seat, act, frame)
        case ChangeOptions():
            create.change_options(draft, seat, act, frame)
        case SeedCommit():
            count_in.seed_commit(draft, seat, act, frame)
        case SeedOpen():
            count_in.seed_open(draft, seat, act, frame)
        case _:
            assert_never(frame)
    if isinstance(frame, StartNow | Ready | Deal | SendBotAway | SendPlayerAway | ChangeOptions):
        _take_back(draft, seat)


def _take_back(draft: Draft, seat: int) -> None:
    """TL-16: any own action starts the count again, and takes the seat back from a bot. A client's seeds are none."""
    held = draft.table.seats[seat]
    if held.away or held.bot_plays or held.expiries:
        draft.add(events.PlayerCameBack(seat=seat))


def _back(draft: Draft, seat: int, act: Act) -> None:
    held = draft.table.seats[seat]
    if not (held.away or held.bot_plays or held.expiries):
        raise refused(Refusal.NOT_NOW)
    draft.add(events.PlayerCameBack(seat=seat, id=act.id, digest=act.digest))


def _timer_rang(draft: Draft, timer: Timer) -> None:
    """A timer that is not for now does nothing (GEN-4)."""
    table = draft.table
    match timer:
        case TurnTimer():
            play.time_is_up(draft, timer)
        case CountInTimer():
            if table.phase is Phase.COUNTING_IN and (timer.round, timer.attempt) == (table.round, table.attempt):
                count_in.zero(draft)
        case SeedsTimer():
            if table.phase is Phase.OPENING_SEEDS and (timer.round, timer.attempt) == (table.round, table.attempt):
                rounds.begin(draft)
        case KeptSeatTimer():
            seats.keep_is_over(draft, timer)
        case VoteTimer():
            if table.vote is not None and table.vote.number == timer.vote:
                votes.time_is_up(draft)
        case _:
            assert_never(timer)


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
    """What a table does by itself: ends a vote, and between rounds closes, finds a host, stops or starts a count-in."""
    for _ in range(AUTOMATIC_STEPS_MAX):
        before = len(draft.events)
        votes.follow(draft)
        if draft.table.phase is not Phase.PLAYING:
            _follow_once(draft)
        if len(draft.events) == before:
            return
    raise AssertionError("a table did not come to rest")


def _follow_once(draft: Draft) -> None:
    match draft.table.phase:
        case Phase.WAITING:
            _follow_waiting(draft)
        case Phase.COUNTING_IN | Phase.OPENING_SEEDS:
            _follow_counting_in(draft)
        case _:
            _find_host(draft)


def _follow_waiting(draft: Draft) -> None:
    table = draft.table
    if table.voided:
        operate.wind_up(draft)
    elif table.ending:
        rounds.end_early(draft)
    elif not table.people and table.staked:
        stakes.ask_close(draft)
    elif not table.people:
        draft.add(events.TableClosed(reason="empty"))
    elif not _find_host(draft) and table.full and not any(s.away for s in table.seats):
        count_in.start(draft)


def _follow_counting_in(draft: Draft) -> None:
    table = draft.table
    if not table.people or not table.full:
        count_in.stop_if_broken(draft)
    elif not _find_host(draft) and table.phase is Phase.COUNTING_IN and count_in.everyone_is_ready(table):
        count_in.zero(draft)


def _find_host(draft: Draft) -> bool:
    """TL-8: whether a new host had to be found."""
    table = draft.table
    if not table.people or table.seats[table.host].player is not None:
        return False
    draft.add(events.HostChanged(seat=seats.longest_seated(table)))
    return True
