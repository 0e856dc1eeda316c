"""What holds for votes whatever happens in whatever order: one outcome each, the one that the answers say."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_scripts import ANN, BOB, CYN, DAN, EVE, Script
from vote_scripts import between_rounds, waiting

from darbar_contracts import frames
from darbar_contracts.tables import Person
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_rules.games.king.game import KING_SHORT
from darbar_rules.testing import STEADY
from darbar_table.domain import events
from darbar_table.domain.commands import OperatorAct
from darbar_table.domain.state import Phase, Table
from darbar_table.domain.timers import VoteTimer

PEOPLE = (ANN, BOB, CYN, DAN, EVE)
STEPS_MIN, STEPS_MAX = 20, 60
BET_COINS = 100

Happening: TypeAlias = tuple[str, int, int]
# What matters to votes comes more often than what does not.
WORDS = (
    *("partner", "bot", "end_game") * 3,
    *("yes",) * 6,
    *("leave", "sit", "offline", "back", "go_on", "time_up") * 2,
    *("no", "silence", "im_back", "start", "send_bot_away", "ready", "kept", "no_stakes", "void"),
)
HAPPENINGS = st.tuples(st.sampled_from(WORDS), st.integers(0, len(PEOPLE) - 1), st.integers(0, 3))
BEGINNINGS: dict[str, Callable[[AnyGame], Script]] = {
    "before a game": lambda rules: Script(rules=rules).sit(BOB, CYN),
    "in a count-in": lambda rules: Script(rules=rules).sit(BOB, CYN, DAN),
    "with bots": lambda rules: Script(rules=rules).sit(BOB).starts_now(ANN),
    "in a round": lambda rules: Script(rules=rules).dealt(),
    "between rounds": lambda rules: between_rounds(rules),
    "a game that waits": lambda rules: waiting(rules=rules),
}


def happens(script: Script, happening: Happening) -> None:
    """One thing that somebody does, or that comes by itself; refusals are raised."""
    what, who, number = happening
    table = script.table
    here = [script.person(seat) for seat in table.people]
    person = here[who % len(here)] if here else PEOPLE[who]
    script.now += timedelta(seconds=3 * number)
    match what:
        case "partner" if here:
            script.asks(script.person(table.host), "partner", number)
        case "bot":
            free = [seat for seat, held in enumerate(table.seats) if held.free] or [number]
            script.asks(person, "bot", free[number % len(free)])
        case "end_game":
            script.asks(person, "end_game")
        case "yes" | "no" if table.vote is not None:
            waits_for = table.vote.waits_for
            answers = script.person(waits_for[who % len(waits_for)]) if number else person
            script.answers(answers, agree=what == "yes")
        case "silence" if table.vote is not None:
            script.silence()
        case "leave":
            script.leaves(person)
        case _:
            happens_beside(script, happening, person)


def happens_beside(script: Script, happening: Happening, person: Person) -> None:
    """What has nothing to do with a vote by itself."""
    what, who, number = happening
    table = script.table
    match what:
        case "sit":
            script.sit(PEOPLE[who])
        case "offline":
            script.offline(person)
        case "back":
            script.back(person)
        case "im_back":
            script.is_back(person)
        case "start":
            script.starts_now(person)
        case "send_bot_away":
            script.act(person, frames.SendBotAway(id=script.new_id(), seat=number))
        case "ready":
            script.act(person, frames.Ready(id=script.new_id()))
        case "go_on" if table.phase is not Phase.WAITING:
            script.step()
        case "time_up" if table.phase is Phase.PLAYING:
            script.time_up()
        case "kept" if table.phase is Phase.WAITING:
            for timer in script.due():
                if not isinstance(timer, VoteTimer):
                    script.rings(timer)
        case "no_stakes" if table.phase is Phase.STAKING:
            script.wallet(done=False, reason="short_of_coins", short=(person.account_id,))
        case "void" if number == who:
            script.tell(OperatorAct("void", "root", "a fault"))


class Watched:
    """A plain model of votes, written beside the rules: told every event, it knows what the outcome has to be."""

    def __init__(self) -> None:
        self.running: events.VoteAsked | None = None
        self.asker: str | None = None
        self.accounts: tuple[str | None, ...] = ()
        self.silent: set[str] = set()
        self.said_no = False
        self.count = 0

    def see(self, before: Table, event: events.TableEvent, after: Table) -> None:
        match event:
            case events.VoteAsked():
                assert self.running is None, "one at a time"
                self.running, self.asker, self.said_no = event, before.accounts[event.seat], False
                self.accounts = before.accounts
                asked = {before.accounts[seat] for seat in event.waits_for}
                self.silent = {account for account in asked if account is not None}
                assert len(self.silent) == len(event.waits_for), "only people are asked"
                self._asks_the_right_ones(before, event)
            case events.VoteAnswered():
                account = before.accounts[event.seat]
                assert account in self.silent
                assert self.running is not None
                assert event.vote == self.running.vote
                self.silent.discard(account)
                self.said_no = not event.agree
            case events.SeatFreed(account_id=account):
                self.silent.discard(account)
            case events.LeaveAsked(seat=seat):
                self.silent.discard(before.accounts[seat] or "")
            case events.SeatTaken(account_id=account):
                if self.running is not None:
                    self.silent.add(account)
            case events.VoteEnded():
                self._ended(event)
            case _:
                pass
        assert (after.vote is None) == (self.running is None)

    def rest(self, table: Table) -> None:
        """Nothing follows by itself any more: a vote that still runs can still be agreed to."""
        if self.running is None:
            return
        asker = table.seats[self.running.seat]
        assert asker.player is not None
        assert (asker.player.account_id, asker.left) == (self.asker, False)
        assert self.silent
        match self.running.about:
            case "partner":
                assert (table.accounts, table.started) == (self.accounts, False)
                assert table.phase in (Phase.WAITING, Phase.COUNTING_IN)
            case "bot":
                wanted = table.seats[self.running.about_seat or 0]
                assert wanted.free or wanted.away
                assert table.phase is Phase.WAITING
            case "end_game":
                assert table.started

    def _asks_the_right_ones(self, table: Table, event: events.VoteAsked) -> None:
        others = {
            seat for seat in table.people if seat != event.seat and not table.seats[seat].left
        }  # fmt: skip
        if event.about == "partner":
            others = {seat for seat in others if seat % 2 != event.seat % 2}
        assert set(event.waits_for) == others

    def _ended(self, event: events.VoteEnded) -> None:
        assert self.running is not None
        assert (event.vote, event.about) == (self.running.vote, self.running.about)
        match event.reason:
            case "agreed":
                assert (event.agreed, self.silent, self.said_no) == (True, set(), False)
            case "refused":
                assert (event.agreed, self.said_no) == (False, True)
            case "timed_out":
                assert self.silent
                assert not self.said_no
                assert event.agreed == (event.about == "bot")
            case "overtaken":
                assert not event.agreed
        assert self.said_no == (event.reason == "refused")
        self.running = None
        self.count += 1


def carried_out(script: Script) -> None:
    """What was agreed is what happens next, and nothing of a game that was ended counts."""
    log = [event for _, event, _ in script.log]
    for place, event in enumerate(log):
        if not isinstance(event, events.VoteEnded):
            continue
        follows = log[place + 1 :]
        if not event.agreed:
            assert not any(isinstance(one, events.SeatsSwapped) for one in follows[:1])
        elif event.about == "partner":
            assert isinstance(follows[0], events.SeatsSwapped)
        elif event.about == "bot":
            seated = next(one for one in follows if isinstance(one, events.BotSeated))
            assert seated.seat == event.about_seat
        else:
            ended = next(number for number, one in enumerate(follows) if isinstance(one, events.GameEnded))
            assert not any(isinstance(one, events.Played) for one in follows[:ended])
            assert not any(isinstance(one, events.SeatFreed) and one.quit for one in follows[:ended])


def coins_add_up(script: Script) -> None:
    """Each stake is shared out whole, or goes back, once."""
    open_stakes: set[str] = set()
    for _, event, after in script.log:
        match event:
            case events.StakesAsked(key=key):
                open_stakes.add(key)
            case events.StakesRefused(key=key):
                open_stakes.discard(key)
            case events.SettleAsked():
                pot_coins = BET_COINS * (len(after.seats) + len(event.pays_again))
                out_coins = sum(event.shares) + BET_COINS * len(event.bets_back)
                assert out_coins + event.forfeit_coins + event.rounding_coins == pot_coins
                open_stakes.remove(event.stake_key)
            case events.RefundAsked() if not after.voided:
                open_stakes.remove(event.stake_key)
            case events.RefundAsked():  # Perhaps of what was being shared out just then.
                open_stakes.discard(event.stake_key)
            case _:
                pass
    assert not open_stakes


def vote_timers(script: Script) -> list[VoteTimer]:
    return [timer for timer in script.due() if isinstance(timer, VoteTimer)]


def brought_to_an_end(script: Script) -> None:
    """The clock of a vote that still runs; then an operator ends the table, and the wallet answers all it is asked."""
    for timer in vote_timers(script):
        script.rings(timer)
    assert (script.table.vote, vote_timers(script)) == (None, [])
    if script.phase is not Phase.CLOSED:
        script.tell(OperatorAct("void", "root", "the test is over"))
    while script.table.asked is not None:
        script.wallet()
    assert script.phase is Phase.CLOSED


@pytest.mark.ruling("TL-5")
@pytest.mark.ruling("TL-26")
@pytest.mark.ruling("TL-39")
@pytest.mark.parametrize("rules", [Script().table.rules, KING_SHORT], ids=lambda rules: rules.name)
@settings(STEADY, max_examples=250)
@given(
    beginning=st.sampled_from(sorted(BEGINNINGS)),
    happenings=st.lists(HAPPENINGS, min_size=STEPS_MIN, max_size=STEPS_MAX),
)
def test_every_vote_has_one_outcome_the_one_that_its_answers_say_and_no_coin_is_lost(
    rules: AnyGame, beginning: str, happenings: list[Happening]
) -> None:
    script = BEGINNINGS[beginning](rules)
    for happening in happenings:
        if script.phase is Phase.CLOSED:
            break
        with suppress(Refused):
            happens(script, happening)
        accounts = [account for account in script.table.accounts if account is not None]
        assert len(set(accounts)) == len(accounts)
        assert vote_timers(script) == ([] if script.table.vote is None else [VoteTimer(script.table.vote.number)])
    brought_to_an_end(script)
    watched = Watched()
    for before, event, after in script.log:
        watched.see(before, event, after)
        if after.version in script.at_rest:
            watched.rest(after)
    assert watched.count == len(script.all(events.VoteAsked))
    carried_out(script)
    coins_add_up(script)
