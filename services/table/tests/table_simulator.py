"""A table over hours of a virtual clock: a seeded script of what people, clocks, bots and the wallet do, and beside it
the plain table that says after every step what has to be true. Open this when a simulated game fails.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from plain_company import Clock, No, Outcome, PlainSeat
from plain_table import PlainTable
from plain_wallet import PlainWallet
from table_scripts import SETTINGS

from darbar_contracts import frames
from darbar_contracts.tables import CreateTable, Person, TableTerms
from darbar_contracts.wallet import RefundRequest, SettleRequest, StakeRequest, WalletAnswer
from darbar_kit.errors import Refused
from darbar_rules.game import AnyGame
from darbar_table.domain import decide, events, timers
from darbar_table.domain.commands import (
    Act,
    BotDecided,
    Command,
    Connected,
    Context,
    Create,
    Decide,
    Disconnected,
    OperatorAct,
    TimerRang,
    WalletAnswered,
)
from darbar_table.domain.state import Phase, Seat, Table, unopened
from darbar_table.domain.timers import CountInTimer, KeptSeatTimer, SeedsTimer, Timer, TurnTimer
from darbar_table.engine.effects import wallet_request
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.table_timers import TableTimers
from darbar_table.engine.timer_wheel import TICK_SECONDS
from darbar_table.store.codec import EventCodec

BET_COINS = 100
COINS = (150, 260, 480, 1000, 5000)
NAMES = ("ann", "bob", "cyn", "dan", "eve", "flo", "gus", "hal")
PEOPLE = tuple(Person(name, name.title(), "fox") for name in NAMES)
SEED_STRING = "a string"
SEED_SHA256 = hashlib.sha256(SEED_STRING.encode()).hexdigest()
START = datetime(2026, 11, 29, 12, tzinfo=UTC)
WALLET_SECONDS = (0.0, 0.0, 0.2, 3.0, 45.0)
ACTIONS_MAX = 220
ENDING_STEPS_MAX = 200


@dataclass
class Letter:
    """A question on its way to the wallet, or its answer on its way back."""

    at: float
    key: str
    request: StakeRequest | SettleRequest | RefundRequest
    answer: WalletAnswer | None = None


@dataclass
class Seen:
    """What has happened at a simulated table, to be counted."""

    kinds: set[str] = field(default_factory=set)
    games: list[str] = field(default_factory=list)
    refusals: set[str] = field(default_factory=set)
    steps: int = 0


class Simulation:
    """One table from its creation to its end. Everything that is random comes from the seed."""

    def __init__(self, rules: AnyGame, options: dict[str, Any], seed: int) -> None:
        self.dice = random.Random(f"{rules.name} {seed}")
        self.rules, self.seed, self.seen = rules, seed, Seen()
        self.script: list[str] = []
        self.now = 0.0
        seeds, self._ids = itertools.count(1), itertools.count(1)
        self.context = Context(
            settings=SETTINGS,
            fresh_seed=lambda: f"{seed:032x}{next(seeds):032x}",
            now=lambda: START + timedelta(seconds=self.now),
        )
        chosen = rules.options_type(**options)
        seats = rules.seat_counts(chosen)[0]
        self.plain = PlainTable(
            NAMES[0],
            seats=seats,
            teams=rules.partners(chosen, seats),
            bet=BET_COINS,
            turn_seconds=10.0,
            pot_is_for_the_game=rules.stake_unit == "game",
            host_deals=rules.host_deals,
        )
        self.wallet = PlainWallet({name: self.dice.choice(COINS) for name in NAMES} | {NAMES[0]: 5000})
        self.letters: list[Letter] = []
        self.old_timers: list[Timer] = []
        self.asked_key: str | None = None
        self.quits: list[str] = []
        self.gave_up: list[str] = []
        self.games: list[str] = []
        # How often people do what disturbs, and how often they are slow: each table has its own temper.
        self.unrest, self.slowness = self.dice.choice((0.02, 0.1, 0.3, 0.6)), self.dice.choice((0.0, 0.02, 0.3))
        self.nerves = self.dice.choice((0.0, 0.0, 0.0, 0.5))  # Of who goes when it is about to begin.
        table_id = UUID(int=seed)
        self.live = LiveTable(
            table_id, shard=0, codec=EventCodec(rules), table=unopened(str(table_id), rules), chain=bytes(32)
        )
        self.timers = TableTimers(SETTINGS, lambda: self.now, submit=self._rang, guard=self._guard)
        terms = TableTerms(rules.name, options, seats, BET_COINS, 10, "public", "normal")
        self._do("create", Create(CreateTable(str(table_id), terms, host=PEOPLE[0]), 5000), lambda: None)

    @property
    def table(self) -> Table:
        return self.live.table

    def run(self) -> Seen:
        """The whole script; an error has the seed and all that was done."""
        try:
            for _ in range(ACTIONS_MAX):
                if self.table.phase is Phase.CLOSED or len(self.games) > 1:
                    break
                self._acts()
            self._all_go()
        except Exception as error:
            done = "\n".join(self.script[-60:])
            error.add_note(f"{self.rules.name}, seed {self.seed}, after\n{done}")
            raise
        self.seen.games = self.games
        return self.seen

    # One step, told to both.

    def _do(self, what: str, command: Command, plainly: Callable[[], object]) -> bool:
        """Whether it was done: both refuse with the same code, or both are the same afterwards."""
        self.script.append(f"{self.now:9.2f} {what}")
        self.seen.steps += 1
        refused_by_table = refused_plainly = None
        before = dict(self.live.timers)
        self.plain.now = self.now
        draft = None
        try:
            draft = decide.decide(self.table, command, self.context)
        except Refused as error:
            refused_by_table = str(error.code)
        try:
            plainly()
        except No as error:
            refused_plainly = str(error)
        assert refused_by_table == refused_plainly, f"refused as {refused_by_table}, not {refused_plainly}"
        if draft is None:
            self.seen.refusals.add(refused_by_table or "")
            return False
        if not draft.events:
            return self._same()
        told = command.person.account_id if isinstance(command, Decide) else None
        self._tell_of_cards(self.table, draft, told)
        self.live.table = draft.table
        self.timers.set(self.live, keeps_turn=draft.keeps_clock)
        self.plain.rest()
        if self._same_seat_goes_on(draft):
            left = max(ends for timer, ends in before.items() if isinstance(timer, TurnTimer))
            self.plain.goes_on(left)
        self.old_timers += [timer for timer in before if timer not in self.live.timers][:2]
        self._note(draft)
        return self._same()

    def _tell_of_cards(self, before: Table, draft: Any, told: str | None) -> None:
        """Who decided, and how a round came out: the plain table knows no cards."""
        for event, after in zip(draft.events, draft.states, strict=True):
            if isinstance(event, events.Played):
                if event.seat is not None:
                    assert event.seat in self.rules.turn(before.state).seats or told is not None
                    self.plain.decided(event.seat, event.by, told_by=told)
                result = self.rules.result(after.state)
                if result is not None and self.rules.result(before.state) is None:
                    self.plain.round_ended(Outcome(result.winners, result.losers_pay_again, result.game_over))
            before = after
        if draft.table.phase is Phase.PLAYING:
            turn = self.rules.turn(draft.table.state)
            self.plain.turn = (turn.round, turn.turn)

    def _same_seat_goes_on(self, draft: Any) -> bool:
        last = draft.events[-1]
        if not isinstance(last, events.Played) or last.seat is None or draft.table.phase is not Phase.PLAYING:
            return False
        is_power = self.rules.kind_of(last.event) in self.rules.same_clock_after
        return is_power and self.rules.turn(draft.table.state).seats == (last.seat,)

    def _note(self, draft: Any) -> None:
        for event in draft.events:
            match event:
                case events.Played():
                    continue
                case events.SeatFreed():
                    self.quits += [event.account_id] * event.quit
                    self.gave_up += [event.account_id] * event.gave_up
                case events.GameEnded():
                    self.games.append(event.reason)
                case _:
                    pass
            self.seen.kinds.add(events.KIND_OF[type(event)])
        asked = self.table.asked
        if asked is not None and asked.key != self.asked_key:
            self._is_asked_rightly(asked)
            self.asked_key = asked.key
            request = wallet_request(self.table, asked)[1]
            self.letters.append(Letter(self.now + self.dice.choice(WALLET_SECONDS), asked.key, request))

    def _is_asked_rightly(self, asked: object) -> None:
        payment, table = self.plain.payment, self.table
        match asked:
            case events.StakesAsked():
                assert self.plain.phase == "staking"
            case events.RefundAsked():
                assert payment is not None
                assert (asked.purpose, payment.forfeit) == (payment.purpose, 0)
                assert table.staking is not None
                assert asked.stake_key == table.staking.key
            case events.SettleAsked():
                assert payment is not None
                shares = payment.shares or (0,) * len(table.seats)
                assert asked.shares == shares, "shares"
                assert (asked.purpose, asked.pays_again, asked.bets_back) == (
                    payment.purpose, payment.pays_again, payment.back,
                )  # fmt: skip
                assert (asked.forfeit_coins, asked.rounding_coins) == (payment.forfeit, payment.rounding)

    # What has to be the same.

    def _same(self) -> bool:
        table, plain = self.table, self.plain
        assert table.phase == plain.phase, f"phase {table.phase}, not {plain.phase}"
        assert (table.game, table.round, table.host) == (plain.game, plain.round, plain.host), "game, round, host"
        for seat, (held, plain_seat) in enumerate(zip(table.seats, plain.plain_seats, strict=True)):
            assert _seat(held) == _plain_seat(plain_seat), f"seat {seat}: {_seat(held)}, not {_plain_seat(plain_seat)}"
        assert (table.started, table.ending, table.voided) == (plain.started, plain.ending, plain.voided), "course"
        assert not plain.started or (table.counted, table.shared) == (plain.counts, plain.in_company), "TL-28"
        pot = plain.pot
        assert table.staked == (pot is not None), "a pot"
        if pot is not None and table.staking is not None:
            assert (table.staking.stakers, set(table.staking.given_up)) == (pot.payers, pot.given_up), "whose bets lie"
        assert (self.quits, self.gave_up) == (plain.quits, plain.gave_up), "quits, bets that were given up"
        assert self.games == plain.games, "games"
        self._same_vote()
        self._same_clocks()
        if table.asked is not None and len(self.letters) > 0 and self.letters[-1].answer is None:
            assert wallet_request(table, table.asked)[1] == self.letters[-1].request, "the wallet is asked the same"
        return True

    def _same_vote(self) -> None:
        vote, plain = self.table.vote, self.plain.vote
        assert (vote is None) == (plain is None), f"vote {vote}, not {plain}"
        if vote is not None and plain is not None:
            accounts = self.table.accounts
            assert (vote.about, vote.about_seat, accounts[vote.asked_by]) == (plain.about, plain.seat, plain.asker)
            assert {accounts[seat] for seat in vote.waits_for} == plain.silent, "who is still asked"

    def _same_clocks(self) -> None:
        mine = sorted((self._plain_clock(timer)[0], ends) for timer, ends in self.live.timers.items())
        plain = sorted((clock[0], ends) for clock, ends in self.plain.clocks.items())
        assert len(mine) == len(plain), f"clocks {mine}, not {plain}"
        for (name, ends), (plain_name, plain_ends) in zip(mine, plain, strict=True):
            assert name == plain_name, f"clocks {mine}, not {plain}"
            assert abs(ends - plain_ends) < TICK_SECONDS, f"{name} rings at {ends}, not {plain_ends}"

    def _plain_clock(self, timer: Timer) -> Clock:
        """What the plain table calls a timer that was set for now."""
        clocks = self.plain.clocks
        match timer:
            case TurnTimer():
                return ("turn", self.table.game, timer.round, timer.turn)
            case CountInTimer():
                return next((clock for clock in clocks if clock[0] == "count_in"), ("count_in",))
            case SeedsTimer():
                return next((clock for clock in clocks if clock[0] == "seeds"), ("seeds",))
            case KeptSeatTimer():
                who = next((seat.player for seat in self.table.seats if seat.since == timer.since), None)
                seat = None if who is None else self.plain.seat(who.account_id)
                return ("kept", None if seat is None else self.plain.plain_seats[seat].sitting, self.table.started)
            case _:
                return next((clock for clock in clocks if clock[0] == "vote"), ("vote",))

    # Time.

    def _rang(self, live: LiveTable, command: Command) -> None:
        if isinstance(command, TimerRang):
            self._rings(command.timer)
        elif isinstance(command, Disconnected):
            who = command.account_id
            self._do(f"{who} is gone", command, lambda: self.plain.disconnected(who))

    def _rings(self, timer: Timer) -> None:
        clock = self._plain_clock(timer)
        if clock[0] == "turn":
            self._do(f"{clock}", TimerRang(timer), lambda: None)
        else:
            self._do(f"{clock}", TimerRang(timer), lambda: self.plain.rings(clock))

    @contextlib.contextmanager
    def _guard(self, live: LiveTable) -> Iterator[None]:
        yield

    def _wait(self, seconds: float) -> None:
        """Everything that is due meanwhile happens in its order."""
        until = self.now + seconds
        while self.table.phase is not Phase.CLOSED:
            deadline = self.live.next_deadline()
            rings = [] if deadline is None else [deadline + 1.5 * TICK_SECONDS]
            letters = [letter.at for letter in self.letters]
            following = min([*rings, *letters], default=math.inf)
            if following > until:
                break
            self.now = max(self.now, following)
            self._post()
            self.timers.turn()
        self.now = max(self.now, until)
        overdue = [clock for clock, ends in self.plain.clocks.items() if ends + 2 * TICK_SECONDS < self.now]
        assert not overdue or self.table.phase is Phase.CLOSED, f"{overdue} did not ring"

    def _post(self) -> None:
        """Letters that have arrived: the wallet decides, and some time later its answer is here."""
        for letter in [one for one in self.letters if one.at <= self.now]:
            if letter.answer is None:
                letter.answer = self.wallet.asked(letter.request)
                assert self.wallet.sum == self.wallet.first_sum, "no coin comes or goes"
                letter.at += self.dice.choice(WALLET_SECONDS)
            else:
                self.letters.remove(letter)
                self._answered(letter.key, letter.answer)

    def _answered(self, key: str, answer: WalletAnswer) -> None:
        is_newest = self.table.asked is not None and self.table.asked.key == key
        told = f"the wallet says {'yes' if answer.done else answer.reason} {answer.short}"

        def plainly() -> None:
            if is_newest:
                self.plain.wallet_says(done=answer.done, short=answer.short)

        if self.table.phase is not Phase.CLOSED:
            self._do(told, WalletAnswered(key, answer), plainly)

    # What is done.

    def _acts(self) -> None:
        """Something that disturbs, or what the table waits for."""
        if self.dice.random() < self.unrest:
            self._disturbs()
        elif self.table.phase is Phase.PLAYING:
            self._plays(self.dice.choice((1, 5, 20, 60)))
        elif self.table.phase is Phase.COUNTING_IN and self.dice.random() < self.nerves:
            self._stops_again()
        elif self.table.phase is Phase.WAITING:
            self._fills()
        elif self.plain.committed - self.plain.opened and self.dice.random() < 0.7:
            self._opens(self.dice.choice(sorted(self.plain.committed)))
            self._wait(0.3)
        else:
            self._wait(self.dice.choice((0.1, 1.0, 8.0)))

    def _plays(self, decisions: int) -> None:
        for _ in range(decisions):
            if self.table.phase is not Phase.PLAYING:
                return
            self.now += 0.01
            turn = self.rules.turn(self.table.state)
            seat = self.dice.choice(turn.seats)
            if self.plain.a_bot_decides(seat):
                decision = self._choice(seat) if self.dice.random() < 0.5 else None
                command: Command = BotDecided(seat, turn.round, turn.turn, decision)
                self._do(f"bot of {seat}", command, lambda: None)
            elif self.dice.random() < self.slowness:
                self._wait(SETTINGS.terms.turn_seconds_max)
            else:
                self._decides(seat)

    def _choice(self, seat: int) -> Any:
        choices = self.rules.choices(self.rules.legal(self.table.state, seat))
        return self.dice.choice(choices) if choices else None

    def _decides(self, seat: int) -> None:
        person, turn, decision = self.table.seats[seat].player, self.rules.turn(self.table.state), self._choice(seat)
        assert person is not None
        kind = next(kind for kind, made in self.rules.decisions.items() if type(decision) is made)
        self._do(
            f"{person.account_id} decides",
            Decide(person, self._id(), 1, turn.round, turn.turn, kind, decision),
            lambda: None,
        )

    def _fills(self) -> None:
        """Whoever is missing comes, sooner or later."""
        away = [
            plain_seat.who for plain_seat in self.plain.plain_seats if plain_seat.who is not None and plain_seat.away
        ]
        here = [who for who in self.plain.people if who not in away]
        match self.dice.randrange(6):
            case 0 | 1:
                self._sit(self.dice.choice(sorted({who for _, who in self.plain.not_before} | {self._somebody()})))
            case 2 if away:
                self._back(self.dice.choice(away))
            case 3 if here:
                self._start_now(self.dice.choice(here))
            case 4 if here:
                free = [seat for seat in range(len(self.plain.plain_seats)) if self.plain.takeable(seat)]
                self._asks(self.dice.choice(here), "bot", self.dice.choice(free or [0]))
            case _:
                self._wait(self.dice.choice((1.0, 10.0, 61.0)))

    def _stops_again(self) -> None:
        """Who has stopped count-ins before does it again, and wants to sit down again at once."""
        who = self.dice.choice(sorted(self.plain.stops) or self.plain.people)
        if self.plain.seat(who) is None:
            self._sit(who)
        self._leave(who)
        self._sit(who)

    def _disturbs(self) -> None:
        people = self.plain.people or [NAMES[0]]
        who = self._somebody() if self.dice.random() < 0.1 else self.dice.choice(people)
        seat = self.dice.randrange(len(self.plain.plain_seats))
        doings: tuple[tuple[int, Callable[[], object]], ...] = (
            (3, lambda: self._leave(who)),
            (6, lambda: self._loses_connection(who)),
            (5, lambda: self._back(who)),
            (3, lambda: self._sit(self._somebody(), self.dice.choice((None, seat)))),
            (2, lambda: self._start_now(who)),
            (4, lambda: self._ready(who)),
            (2, lambda: self._act(who, frames.Deal(id=self._id()), lambda: self.plain.deal(who))),
            (3, lambda: self._act(who, frames.ImBack(id=self._id()), lambda: self.plain.is_back(who))),
            (1, lambda: self._sends_bot_away(who, seat)),
            (1, lambda: self._sends_player_away(who, seat)),
            (4, lambda: self._asks(who, self.dice.choice(("partner", "bot", "end_game", "end_game")), seat)),
            (8, lambda: self._answers(who)),
            (3, lambda: self._commits(who)),
            (3, lambda: self._opens(who)),
            (4, lambda: self._wait(self.dice.choice((0.5, 4.0, 12.0, 30.0, 130.0, 700.0)))),
            (2, self._late_clock),
            (1, self._operator_acts),
            (1, lambda: self._changes_seats(who)),
        )
        self.dice.choices([doing for _, doing in doings], [weight for weight, _ in doings])[0]()

    def _somebody(self) -> str:
        return self.dice.choice(NAMES)

    def _id(self) -> str:
        return f"command-{next(self._ids):010d}"

    def _act(self, who: str, frame: Any, plainly: Callable[[], object]) -> None:
        if self.table.phase is not Phase.CLOSED:
            command = Act(PEOPLE[NAMES.index(who)], frame, 1, self.wallet.coins[who])
            self._do(f"{who} {frame}", command, plainly)

    def _sit(self, who: str, seat: int | None = None) -> None:
        coins = self.wallet.coins[who]
        self._act(who, frames.Sit(id=self._id(), seat=seat), lambda: self.plain.sit(who, seat, coins))

    def _leave(self, who: str) -> None:
        self._act(who, frames.Leave(id=self._id()), lambda: self.plain.leave(who))

    def _start_now(self, who: str) -> None:
        self._act(who, frames.StartNow(id=self._id()), lambda: self.plain.start_now(who))

    def _ready(self, who: str) -> None:
        self._act(who, frames.Ready(id=self._id()), lambda: self.plain.is_ready(who))

    def _sends_bot_away(self, who: str, seat: int) -> None:
        self._act(who, frames.SendBotAway(id=self._id(), seat=seat), lambda: self.plain.send_bot_away(who, seat))

    def _sends_player_away(self, who: str, seat: int) -> None:
        self._act(who, frames.SendPlayerAway(id=self._id(), seat=seat), lambda: self.plain.send_player_away(who, seat))

    def _asks(self, who: str, about: Any, seat: int | None) -> None:
        seat = None if about == "end_game" else seat
        frame = frames.AskVote(id=self._id(), about=about, seat=seat)
        self._act(who, frame, lambda: self.plain.ask(who, about, seat))

    def _answers(self, who: str) -> None:
        """Mostly somebody who is asked."""
        if self.plain.vote is not None and self.plain.vote.silent and self.dice.random() < 0.8:
            who = self.dice.choice(sorted(self.plain.vote.silent))
        number = 0 if self.table.vote is None else self.table.vote.number
        agree = self.dice.random() < 0.85
        frame = frames.AnswerVote(id=self._id(), vote=number, agree=agree)
        self._act(who, frame, lambda: self.plain.answer(who, agree=agree))

    def _commits(self, who: str) -> None:
        self._act(who, frames.SeedCommit(id=self._id(), sha256=SEED_SHA256), lambda: self.plain.commit(who))

    def _opens(self, who: str) -> None:
        self._act(who, frames.SeedOpen(id=self._id(), string=SEED_STRING), lambda: self.plain.open(who))

    def _loses_connection(self, who: str) -> None:
        """Sometimes it is here again before anybody notices (TL-42)."""
        self.timers.expect(self.live, who, seconds=SETTINGS.offline_grace_seconds)
        if self.dice.random() < 0.3:
            self._wait(3.0)
            self.live.absences.pop(who, None)
            self.timers.set(self.live)
        else:
            self._wait(self.dice.choice((5.1, 9.0)))

    def _back(self, who: str) -> None:
        self.live.absences.pop(who, None)
        self._do(f"{who} connects", Connected(who), lambda: self.plain.connected(who))

    def _late_clock(self) -> None:
        """One that was for something else."""
        now = timers.due(self.table, SETTINGS)
        late = [timer for timer in self.old_timers if timer not in now]
        if late:
            self._do("a clock that is late", TimerRang(self.dice.choice(late)), lambda: None)

    def _operator_acts(self) -> None:
        """A table is voided seldom, but where coins are under way: the answer may come late."""
        if self.dice.random() < (0.3 if self.table.phase is Phase.SETTLING else 0.03):
            self._do("void", OperatorAct("void", "root", "a fault"), self.plain.void)
        else:
            self._do("resume", OperatorAct("resume", "root", "mended"), lambda: None)

    def _changes_seats(self, who: str) -> None:
        if self.rules.host_deals:
            seats = self.dice.choice((4, 5, 6))
            frame = frames.ChangeOptions(id=self._id(), options={"seats": seats})
            self._act(who, frame, lambda: self.plain.change_seats(who, seats))

    def _all_go(self) -> None:
        """At the end everybody leaves: the table closes, and no coin is left in it."""
        for _ in range(ENDING_STEPS_MAX):
            if self.table.phase is Phase.CLOSED:
                break
            for who in self.plain.people:
                self._leave(who)
            if self.table.phase is Phase.PLAYING:
                self._plays(60)
            self._wait(1.0)
        assert self.table.phase is Phase.CLOSED, "nobody is here, and the table is open"
        for letter in self.letters:
            self.wallet.asked(letter.request) if letter.answer is None else None
        assert set(self.wallet.stakes) <= set(self.wallet.closed), "coins lie in a pot of a table that is closed"
        assert self.wallet.sum == self.wallet.first_sum


def _seat(seat: Seat) -> tuple[object, ...]:
    who = None if seat.player is None else seat.player.account_id
    held = (who, seat.bot is not None, seat.bot_barred, seat.emptied_by)
    return held if who is None else (*held, seat.online, seat.left, seat.idle, seat.bot_plays, seat.expiries)


def _plain_seat(plain_seat: PlainSeat) -> tuple[object, ...]:
    held = (plain_seat.who, plain_seat.bot, plain_seat.only_by_vote, plain_seat.emptied_by)
    if plain_seat.who is None:
        return held
    return (*held, plain_seat.online, plain_seat.left, plain_seat.idle, plain_seat.bot_plays, plain_seat.expiries)
