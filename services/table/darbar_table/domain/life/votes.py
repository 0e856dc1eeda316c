"""Votes: another partner, a bot for a seat, the end of the game. Open this when a vote ends too soon, or not at all.

One mechanism and three policies. Who asks agrees, bots agree, one "no" ends it; a policy says when it may be asked,
who is asked, what silence means, for how long the question makes sense, and what is done when it is agreed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import NamedTuple

from darbar_contracts.frames import AnswerVote, AskVote, Leave, TableReason, VoteAbout, VoteView
from darbar_contracts.wallet import RefundPurpose
from darbar_rules.game import Refusal
from darbar_table.domain import events
from darbar_table.domain.commands import Act, Draft
from darbar_table.domain.life import rounds, seats, stakes
from darbar_table.domain.refusals import refused
from darbar_table.domain.state import Phase, Table

MINUTE_SECONDS = 60.0
PAIR = 2


class Policy(NamedTuple):
    """`refuse` raises where it can't be asked now; `asks` has the seats whose players are asked, without who asks."""

    refuse: Callable[[Table, int, int | None], None]
    asks: Callable[[Table, int | None], tuple[int, ...]]
    silence_agrees: bool
    makes_sense: Callable[[Draft, VoteView], bool]
    carry_out: Callable[[Draft, VoteView], None]


def ask(draft: Draft, seat: int, act: Act, frame: AskVote) -> None:
    """One vote at a time. Alone, ending the game is leaving it (TL-39)."""
    table, policy = draft.table, POLICIES[frame.about]
    policy.refuse(table, seat, frame.seat)
    if frame.about == "end_game" and table.people == (seat,):
        seats.leave(draft, seat, act, Leave(id=act.id))
        return
    if table.vote is not None:
        raise refused(TableReason.VOTE_RUNNING)
    _refuse_the_paused(draft, frame, act.person.account_id)
    asked = policy.asks(table, frame.seat)
    draft.add(
        events.VoteAsked(
            seat=seat,
            vote=table.version + 1,
            about=frame.about,
            about_seat=frame.seat,
            waits_for=tuple(number for number in asked if number != seat and _is_asked(table, number)),
            seconds=draft.context.settings.vote_seconds,
            at=draft.context.now(),
            id=act.id,
            digest=act.digest,
        )
    )


def answer(draft: Draft, seat: int, act: Act, frame: AnswerVote) -> None:
    """One "no" ends it."""
    vote = draft.table.vote
    if vote is None or vote.number != frame.vote:
        raise refused(TableReason.VOTE_OVER)
    if seat not in vote.waits_for:
        raise refused(TableReason.NOT_ASKED)
    draft.add(events.VoteAnswered(seat=seat, vote=vote.number, agree=frame.agree, id=act.id, digest=act.digest))
    if not frame.agree:
        _end(draft, vote, "refused")


def time_is_up(draft: Draft) -> None:
    """Whoever has not answered has said what silence means."""
    vote = draft.table.vote
    assert vote is not None
    _end(draft, vote, "timed_out", agreed=POLICIES[vote.about].silence_agrees)


def follow(draft: Draft) -> None:
    """After whatever else happened: a vote whose question makes no sense any more ends, and one that all agree to."""
    vote = draft.table.vote
    if vote is None:
        return
    if not _asker_is_here(draft.table, vote) or not POLICIES[vote.about].makes_sense(draft, vote):
        _end(draft, vote, "overtaken")
    elif not vote.waits_for:
        _end(draft, vote, "agreed", agreed=True)


def _end(draft: Draft, vote: VoteView, reason: events.VoteEndReason, *, agreed: bool = False) -> None:
    pauses = not agreed and reason != "overtaken"
    until = draft.context.now() + timedelta(seconds=draft.context.settings.vote_pause_seconds)
    draft.add(
        events.VoteEnded(
            vote=vote.number,
            about=vote.about,
            about_seat=vote.about_seat,
            agreed=agreed,
            reason=reason,
            paused_until=until if pauses else None,
        )
    )
    if agreed:
        POLICIES[vote.about].carry_out(draft, vote)


def _refuse_the_paused(draft: Draft, frame: AskVote, account_id: str) -> None:
    """TL-26: the same is not asked again at once. And nobody asks without end."""
    now, past = draft.context.now(), draft.table.past_votes
    count_max = draft.context.settings.votes_a_minute_max
    until = [one.paused_until for one in past if (one.about, one.about_seat) == (frame.about, frame.seat)]
    own = [one.at for one in past if one.account_id == account_id]
    if 0 < count_max <= len(own):
        until.append(own[-count_max] + timedelta(seconds=MINUTE_SECONDS))
    seconds = max(((moment - now).total_seconds() for moment in until if moment is not None), default=0.0)
    if seconds > 0:
        raise refused(TableReason.VOTE_PAUSED, seconds=round(seconds, 1))


def _is_asked(table: Table, number: int) -> bool:
    """Bots agree, and so does the bot of a player who has pressed Leave."""
    return table.seats[number].player is not None and not table.seats[number].left


def _asker_is_here(table: Table, vote: VoteView) -> bool:
    is_same = table.accounts[vote.asked_by] == table.past_votes[-1].account_id
    return is_same and not table.seats[vote.asked_by].left


def _everybody(table: Table, _about_seat: int | None) -> tuple[int, ...]:
    return table.people


def _seat_known(table: Table, about_seat: int | None) -> int:
    if about_seat is None or not 0 <= about_seat < len(table.seats):
        raise refused(TableReason.SEAT_UNKNOWN)
    return about_seat


# Another partner (TL-5): before a game, in team games with pairs; the host's partner and an opponent swap seats.


def _refuse_partner(table: Table, seat: int, about_seat: int | None) -> None:
    if len(_team_of(table, table.host)) != PAIR:
        raise refused(TableReason.NO_PARTNERS)
    if seat != table.host:
        raise refused(TableReason.NOT_HOST)
    if not _before_game(table):
        raise refused(Refusal.NOT_NOW)
    wanted = _seat_known(table, about_seat)
    if wanted in _team_of(table, seat) or table.seats[wanted].free:
        raise refused(TableReason.NOT_AN_OPPONENT)


def _before_game(table: Table) -> bool:
    return not table.started and table.phase in (Phase.WAITING, Phase.COUNTING_IN)


def _team_of(table: Table, seat: int) -> tuple[int, ...]:
    teams = table.rules.partners(table.options, len(table.seats))
    return next((team for team in teams if seat in team), ())


def _opponents(table: Table, about_seat: int | None) -> tuple[int, ...]:
    return _team_of(table, _seat_known(table, about_seat))


def _same_people_before_game(draft: Draft, _vote: VoteView) -> bool:
    """Whoever comes, goes or is replaced was not there when the question was asked."""
    return _before_game(draft.table) and not any(isinstance(event, events.SeatingEvent) for event in draft.events)


def _swap(draft: Draft, vote: VoteView) -> None:
    table = draft.table
    (partner,) = (number for number in _team_of(table, table.host) if number != table.host)
    draft.add(events.SeatsSwapped(seats=(partner, _seat_known(table, vote.about_seat))))


# A bot for a seat (TL-26): a free one, or one that a waiting game keeps for somebody absent.


def _refuse_bot(table: Table, _seat: int, about_seat: int | None) -> None:
    wanted = _seat_known(table, about_seat)
    if table.phase in seats.ABOUT_TO_DEAL:
        raise refused(TableReason.ROUND_RUNNING)
    if not seats.can_be_taken(table, table.seats[wanted]):
        raise refused(TableReason.SEAT_TAKEN)


def _seat_can_be_taken(draft: Draft, vote: VoteView) -> bool:
    """The host may have taken the seat itself away (TL-1)."""
    table, wanted = draft.table, vote.about_seat
    if wanted is None or wanted >= len(table.seats):
        return False
    return table.phase is Phase.WAITING and seats.can_be_taken(table, table.seats[wanted])


def _seat_bot(draft: Draft, vote: VoteView) -> None:
    seats.seat_bot(draft, _seat_known(draft.table, vote.about_seat))


# The end of the game (TL-39): nothing of it counts, and what was staked for an unfinished unit goes back.


def _refuse_end(table: Table, _seat: int, about_seat: int | None) -> None:
    if about_seat is not None:
        raise refused(TableReason.SEAT_UNKNOWN)
    if not table.started or table.voided or table.ending:
        raise refused(Refusal.NOT_NOW)


def _game_goes_on(draft: Draft, _vote: VoteView) -> bool:
    return draft.table.started and not draft.table.voided


def _break_off(draft: Draft, _vote: VoteView) -> None:
    """The round's seeds are shown. A stake that was asked for is cancelled; one that is shared out is waited for."""
    if draft.table.running is not None:
        rounds.show_seeds(draft)
    if draft.table.phase is Phase.STAKING:
        stakes.ask_refund(draft, RefundPurpose.ENDED_EARLY)


POLICIES: Mapping[VoteAbout, Policy] = {
    "partner": Policy(
        refuse=_refuse_partner,
        asks=_opponents,
        silence_agrees=False,
        makes_sense=_same_people_before_game,
        carry_out=_swap,
    ),
    "bot": Policy(
        refuse=_refuse_bot,
        asks=_everybody,
        silence_agrees=True,
        makes_sense=_seat_can_be_taken,
        carry_out=_seat_bot,
    ),
    "end_game": Policy(
        refuse=_refuse_end,
        asks=_everybody,
        silence_agrees=False,
        makes_sense=_game_goes_on,
        carry_out=_break_off,
    ),
}
