"""The next state after an event: only records, never decides, never refuses. Open this beside events.py."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from sys import intern
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from darbar_contracts.frames import VoteView
from darbar_contracts.tables import Person, TableTerms
from darbar_rules.deal import Chance, bag_flags
from darbar_rules.game import AnyGame
from darbar_table.domain import events
from darbar_table.domain.milestones import counts
from darbar_table.domain.state import Bag, CountIn, PastVote, Phase, Round, Seat, SentAway, Staking, Stopper, Table

COUNTED_PEOPLE_MIN = 2
# Who has stopped a count-in longest ago is forgotten: the others could not have been stopped by them since.
STOPPERS_REMEMBERED_MAX = 16
# Whoever was sent away before so many others may come back sooner.
SENT_AWAY_REMEMBERED_MAX = 64
# Before so many others nothing was asked that would still have to wait.
VOTES_REMEMBERED_MAX = 32
TERMS_SHARED_MAX = 4_096


def evolve(table: Table, event: events.TableEvent) -> Table:
    """The table one version later."""
    if isinstance(event, events.Played):
        return _played(table, event)
    return replace(_changed(table, event), version=table.version + 1, milestones=table.milestones + counts(event))


def evolve_played(table: Table, run: Sequence[events.Played[Any]]) -> Table:
    """The table after cards, bids and deals that follow each other: `evolve` of each, without the tables between."""
    if not run:
        return table
    state, seats, rules_evolve = table.state, table.seats, table.rules.evolve
    for event in run:
        state = rules_evolve(state, event.event)
        seats = _seats_after(seats, event)
    return replace(table, version=table.version + len(run), state=state, seats=seats)


def _played(table: Table, event: events.Played[Any]) -> Table:
    """The hot path: a card, a bid, a deal."""
    state = table.rules.evolve(table.state, event.event)
    return replace(table, version=table.version + 1, state=state, seats=_seats_after(table.seats, event))


def _seats_after(seats: tuple[Seat, ...], event: events.Played[Any]) -> tuple[Seat, ...]:
    """An own action of a player resets the seat's expiries (TL-16)."""
    if event.seat is None:
        return seats
    expiries = seats[event.seat].expiries
    if event.by == "clock":
        expiries += 1
    elif event.by == "player" and expiries:
        expiries = 0
    else:
        return seats
    return (*seats[: event.seat], replace(seats[event.seat], expiries=expiries), *seats[event.seat + 1 :])


def _changed(table: Table, event: events.OwnEvent) -> Table:
    if isinstance(event, events.SeatingEvent):
        return _seating(table, event)
    if isinstance(event, events.CountInEvent):
        return _counting(table, event)
    if isinstance(event, events.StakeEvent):
        return _staking(table, event)
    if isinstance(event, events.PresenceEvent):
        return _presence(table, event)
    if isinstance(event, events.VoteEvent):
        return _voting(table, event)
    return _course(table, event)


def _seating(table: Table, event: events.SeatingEvent) -> Table:
    match event:
        case events.SeatTaken():
            return _seat_taken(table, event)
        case events.SeatFreed():
            return _seat_freed(table, event)
        case events.BotSeated():
            return replace(table, seats=table.with_seat(event.seat, Seat(bot=event.name)))
        case events.BotSentAway():
            seat = Seat(bot_barred=True, emptied_by=table.accounts[event.actor])
            return replace(table, seats=table.with_seat(event.seat, seat))
        case events.PlayerSentAway():
            sent_away = (*table.sent_away, SentAway(event.account_id, event.until))
            return replace(table, sent_away=sent_away[-SENT_AWAY_REMEMBERED_MAX:])
        case events.OptionsChanged():
            return _on_terms(replace(table, seats=table.seats[: event.terms.seats]), event.terms)
        case events.HostChanged():
            return replace(table, host=event.seat)
        case events.SittingPaused():
            stoppers = [
                replace(one, paused_until=event.until) if one.account_id == event.account_id else one
                for one in table.stoppers
            ]
            return replace(table, stoppers=tuple(stoppers))
        case _:
            assert_never(event)


def _seat_taken(table: Table, event: events.SeatTaken) -> Table:
    """Whoever comes back into a stake unit that they had given up has their bet in it again (TL-37)."""
    person = Person(event.account_id, event.name, intern(event.avatar))
    seats = table.with_seat(event.seat, Seat(player=person, online=True, since=table.version + 1))
    staking = table.staking
    if staking is not None and event.account_id in staking.given_up:
        staking = replace(staking, given_up=tuple(one for one in staking.given_up if one != event.account_id))
    vote = table.vote
    if vote is not None:
        vote = vote.with_newcomer(event.seat)
    return _noting_company(replace(table, seats=seats, staking=staking, vote=vote))


def _seat_freed(table: Table, event: events.SeatFreed) -> Table:
    seat = Seat(bot_barred=True, emptied_by=event.account_id) if table.started else Seat()
    staking, stoppers = table.staking, table.stoppers
    if event.gave_up and staking is not None and event.account_id in staking.stakers:
        staking = replace(staking, given_up=(*staking.given_up, event.account_id))
    if event.reason in ("left_while_staking", "short_of_coins"):
        stoppers = _stopped_once_more(table, event.account_id)
    vote = None if table.vote is None else table.vote.without(event.seat)
    return replace(table, seats=table.with_seat(event.seat, seat), staking=staking, stoppers=stoppers, vote=vote)


def _noting_company(table: Table) -> Table:
    """TL-28: whether a second person has held a seat in this game."""
    if table.shared or not table.started or len(table.people) < COUNTED_PEOPLE_MIN:
        return table
    return replace(table, shared=True)


def _counting(table: Table, event: events.CountInEvent) -> Table:
    match event:
        case events.BagOpened():
            flags = bag_flags(bytes.fromhex(event.seed), table_id=table.table_id, bag=event.bag)
            return replace(table, bag=Bag(number=event.bag, seed=event.seed, flags=flags))
        case events.CountInStarted():
            return replace(
                table,
                phase=Phase.COUNTING_IN,
                round=event.round,
                attempt=event.attempt,
                count_in=CountIn(event.server_seed),
            )
        case events.CountInStopped():
            stoppers = _stopped_once_more(table, event.account_id)
            return replace(table, phase=Phase.WAITING, count_in=None, stoppers=stoppers)
        case events.SeedsAsked():
            return replace(table, phase=Phase.OPENING_SEEDS)
        case _:
            # Somebody may also ask to start sooner where no count-in runs yet: bots come, and it begins.
            return replace(table, count_in=None if table.count_in is None else _asked(table.count_in, event))


def _asked(count_in: CountIn, event: events.AskedEvent) -> CountIn:
    match event:
        case events.StartAsked():
            return replace(count_in, start_asked=True)
        case events.DealAsked():
            return replace(count_in, deal_asked=True)
        case events.SeatReady():
            return replace(count_in, ready=tuple(sorted({*count_in.ready, event.seat})))
        case events.SeedCommitted():
            return replace(count_in, committed={**count_in.committed, event.seat: event.sha256})
        case events.SeedOpened():
            return replace(count_in, strings={**count_in.strings, event.seat: event.string})
        case _:
            assert_never(event)


def _stopped_once_more(table: Table, account_id: str) -> tuple[Stopper, ...]:
    known = next((one for one in table.stoppers if one.account_id == account_id), Stopper(account_id, 0))
    others = tuple(one for one in table.stoppers if one.account_id != account_id)
    return (*others, replace(known, count=known.count + 1))[-STOPPERS_REMEMBERED_MAX:]


def _staking(table: Table, event: events.StakeEvent) -> Table:
    match event:
        case events.StakesAsked():
            return replace(table, phase=Phase.STAKING, staking=Staking(event.key, event.unit, asked=event))
        case events.StakesRefused():
            return replace(table, phase=Phase.WAITING, staking=None, count_in=None)
        case events.Settled() | events.Refunded() | events.RefundRefused():
            return replace(table, phase=Phase.WAITING, staking=None, count_in=None)
        case events.StakesGranted() | events.SettleAsked() | events.RefundAsked():
            staking = table.staking
            assert staking is not None
            if isinstance(event, events.StakesGranted):
                return replace(table, staking=replace(staking, asked=None, granted=True, stakers=table.accounts))
            phase = Phase.SETTLING if isinstance(event, events.SettleAsked) else Phase.REFUNDING
            return replace(table, phase=phase, staking=replace(staking, asked=event))
        case _:
            assert_never(event)


def _presence(table: Table, event: events.PresenceEvent) -> Table:
    vote = table.vote
    if vote is not None and isinstance(event, events.LeaveAsked):
        vote = vote.without(event.seat)
    return replace(table, seats=table.with_seat(event.seat, _present(table.seats[event.seat], event)), vote=vote)


def _present(seat: Seat, event: events.PresenceEvent) -> Seat:
    match event:
        case events.PlayerWentOffline():
            return replace(seat, online=False)
        case events.PlayerCameBack():
            return Seat(player=seat.player, online=True, since=seat.since)
        case events.PlayerWentIdle():
            return replace(seat, idle=True)
        case events.LeaveAsked():
            return replace(seat, left=True)
        case events.BotTookOver():
            return replace(seat, bot_plays=True)
        case _:
            assert_never(event)


def _voting(table: Table, event: events.VoteEvent) -> Table:
    match event:
        case events.VoteAsked():
            return _vote_asked(table, event)
        case events.VoteAnswered():
            vote = table.vote
            return replace(table, vote=None if vote is None else vote.after_yes(event.seat) if event.agree else vote)
        case events.VoteEnded():
            return _vote_ended(table, event)
        case events.SeatsSwapped():
            first, second = event.seats
            seats = list(table.seats)
            seats[first], seats[second] = seats[second], seats[first]
            return replace(table, seats=tuple(seats), phase=Phase.WAITING, count_in=None)
        case _:
            assert_never(event)


def _vote_asked(table: Table, event: events.VoteAsked) -> Table:
    account_id = table.accounts[event.seat]
    assert account_id is not None
    asked = PastVote(account_id, event.about, event.about_seat, event.at)
    return replace(
        table,
        vote=VoteView(event.vote, event.about, event.about_seat, asked_by=event.seat, waits_for=event.waits_for),
        past_votes=(*table.past_votes, asked)[-VOTES_REMEMBERED_MAX:],
    )


def _vote_ended(table: Table, event: events.VoteEnded) -> Table:
    """The newest of the past votes is the one that ends. A game that is ended has no count-in any more."""
    *others, newest = table.past_votes
    past = (*others, replace(newest, paused_until=event.paused_until))
    ended = replace(table, vote=None, past_votes=past)
    if not event.agreed or event.about != "end_game":
        return ended
    counts_in = table.phase in (Phase.COUNTING_IN, Phase.OPENING_SEEDS)
    return replace(ended, ending=True, count_in=None, phase=Phase.WAITING if counts_in else table.phase)


def _course(table: Table, event: events.CourseEvent) -> Table:
    match event:
        case events.TableCreated():
            return _on_terms(replace(table, seats=(Seat(player=event.host, online=True, since=1),)), event.terms)
        case events.GameStarted():
            return _noting_company(replace(table, state=table.rules.new(table.options, len(table.seats))))
        case events.RoundStarted():
            return _round_started(table, event)
        case events.SeedsShown():
            return replace(table, phase=Phase.WAITING, running=None)
        case events.GameEnded():
            return _game_ended(table)
        case events.TableVoided():
            phase = table.phase if table.phase is Phase.REFUNDING else Phase.WAITING
            return replace(table, phase=phase, count_in=None, voided=True)
        case events.TableResumed():
            return table
        case events.TableClosed():
            return replace(table, phase=Phase.CLOSED)
        case _:
            assert_never(event)


def _on_terms(table: Table, terms: TableTerms) -> Table:
    """The seats that are there stay as they are; those that the terms have beside them are free."""
    terms, options = shared_terms(msgspec.json.encode(terms), table.rules)
    more = (Seat(),) * (terms.seats - len(table.seats))
    return replace(table, terms=terms, options=options, seats=table.seats + more)


@lru_cache(maxsize=TERMS_SHARED_MAX)
def shared_terms(encoded: bytes, rules: AnyGame) -> tuple[TableTerms, Any]:
    """Terms and their options as the rules take them; of all the tables that agree on the same, most are one object."""
    terms = msgspec.json.decode(encoded, type=TableTerms)
    return terms, msgspec.convert(terms.options, rules.options_type)


def _round_started(table: Table, event: events.RoundStarted) -> Table:
    """The seeds are final: the round's chance is made here once."""
    count_in, bag = table.count_in, table.bag
    assert count_in is not None
    assert bag is not None
    filtered = bag.flags[bag.used]
    chance = Chance(
        bytes.fromhex(count_in.server_seed),
        table_id=table.table_id,
        game=table.game,
        round=table.round,
        strings=tuple(sorted(count_in.strings.items())),
        filtered=filtered,
    )
    return replace(
        table,
        phase=Phase.PLAYING,
        seats=tuple(_in_one_more_round(seat) for seat in table.seats),
        counted=table.counted or table.shared,
        bag=replace(bag, used=bag.used + 1),
        count_in=None,
        running=Round(count_in.server_seed, count_in.strings, event.left_out, filtered, chance),
        stoppers=tuple(replace(one, count=0) for one in table.stoppers if one.paused_until is not None),
    )


def _in_one_more_round(seat: Seat) -> Seat:
    bot_rounds = seat.bot_rounds + 1 if seat.bot_plays else 0
    return seat if bot_rounds == seat.bot_rounds else replace(seat, bot_rounds=bot_rounds)


def _game_ended(table: Table) -> Table:
    seats = tuple(replace(seat, left=False, bot_barred=False, emptied_by=None) for seat in table.seats)
    over = replace(table, round=0, attempt=0, state=None, shared=False, counted=False, seats=seats)
    return replace(over, game=table.game + 1, ending=False)
