"""The life of a table once more, in plain words of docs/tables.md and without the domain's code: what has to be true.

Told every command before the table is, it says whether the table has to refuse it, and afterwards who sits there, who
has quit, whose bets lie in the pot, which vote stands, who is host and which clocks run until when. It knows no cards:
who plays when and how a round came out is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

COUNT_IN_SECONDS, SEEDS_SECONDS, VOTE_SECONDS, VOTE_PAUSE_SECONDS = 7.0, 1.0, 20.0, 10.0
KEPT_IN_GAME_SECONDS, KEPT_BEFORE_SECONDS, SENT_AWAY_SECONDS, STOPPER_SECONDS = 600.0, 60.0, 600.0, 60.0
SAME_TURN_SECONDS = 5.0
VOTES_A_MINUTE, STOPS, EXPIRIES, BOT_ROUNDS = 6, 3, 5, 3
BUSY = ("staking", "playing", "settling", "refunding")
DEALING = ("opening_seeds", *BUSY)
STEPS_MAX = 10

Clock = tuple[object, ...]


class No(Exception):
    """The table has to refuse this, with this code."""


@dataclass
class Chair:
    """Who sits there: an account, a bot, nobody."""

    who: str | None = None
    bot: bool = False
    online: bool = True
    left: bool = False
    idle: bool = False
    bot_plays: bool = False
    expiries: int = 0
    bot_rounds: int = 0
    sitting: int = 0
    only_by_vote: bool = False
    emptied_by: str | None = None

    @property
    def free(self) -> bool:
        return self.who is None and not self.bot

    @property
    def away(self) -> bool:
        return self.who is not None and (self.left or self.idle or not self.online)


@dataclass
class Vote:
    about: str
    seat: int | None
    asker: str
    silent: set[str]
    ends: float


@dataclass
class Pot:
    """Who paid for each seat (None: the house, for a bot), and who of them has the bet back in the end."""

    payers: tuple[str | None, ...] = ()
    given_up: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Outcome:
    """How a round came out."""

    winners: tuple[int, ...]
    pays_again: bool
    game_over: bool


@dataclass(frozen=True)
class Payment:
    """What the wallet has to be asked: everything back to who paid it, or shares by seat and the rest."""

    purpose: str
    shares: tuple[int, ...] = ()
    pays_again: tuple[int, ...] = ()
    back: tuple[int, ...] = ()
    forfeit: int = 0
    rounding: int = 0


class PlainTable:
    def __init__(
        self,
        host: str,
        *,
        seats: int,
        teams: tuple[tuple[int, ...], ...],
        bet: int,
        turn_seconds: float,
        pot_is_for_the_game: bool,
        host_deals: bool,
    ) -> None:
        self.now = 0.0
        self.chairs = [Chair(who=host), *(Chair() for _ in range(seats - 1))]
        self.teams, self.bet, self.turn_seconds = teams, bet, turn_seconds
        self.pot_is_for_the_game, self.host_deals = pot_is_for_the_game, host_deals
        self.phase, self.host, self.game, self.round = "waiting", 0, 1, 0
        self.started = self.in_company = self.counts = self.ending = self.voided = False
        self.round_is_played = True
        self.sittings = self.count_ins = 0
        self.start_wanted = False
        self.ready: set[str] = set()
        self.committed: set[str] = set()
        self.opened: set[str] = set()
        self.pot: Pot | None = None
        self.payment: Payment | None = None
        self.outcome: Outcome | None = None
        self.vote: Vote | None = None
        self.vote_pauses: dict[tuple[str, int | None], float] = {}
        self.votes_of: dict[str, list[float]] = {}
        self.stops: dict[str, int] = {}
        self.not_before: dict[tuple[str, str], float] = {}
        self.quits: list[str] = []
        self.gave_up: list[str] = []
        self.games: list[str] = []
        self.turn: tuple[int, int] = (0, 0)
        self.clocks: dict[Clock, float] = {}
        self._culprit: str | None = None
        self._company_changed = False

    # What can be asked about it.

    @property
    def people(self) -> list[str]:
        return [chair.who for chair in self.chairs if chair.who is not None]

    def seat(self, who: str) -> int | None:
        return next((number for number, chair in enumerate(self.chairs) if chair.who == who), None)

    def a_bot_decides(self, seat: int) -> bool:
        chair = self.chairs[seat]
        return chair.bot or chair.away or chair.bot_plays

    @property
    def full(self) -> bool:
        return not any(chair.free for chair in self.chairs)

    def takeable(self, seat: int) -> bool:
        chair = self.chairs[seat]
        return chair.free or (chair.away and self.started and self.phase == "waiting")

    # Commands of people.

    def sit(self, who: str, seat: int | None, coins: int) -> None:
        if self.seat(who) is not None:
            raise No("already_seated")
        if coins < 2 * self.bet:
            raise No("short_of_coins")
        for code in ("sent_away", "sitting_paused"):
            if self.not_before.get((code, who), 0.0) > self.now:
                raise No(code)
        if self.payment is not None and self.payment.purpose == "table_closed":
            raise No("table_closed")
        seat = self._next_seat() if seat is None else seat
        if not self.takeable(seat):
            raise No("seat_taken")
        self._take_from_the_absent(seat)
        self.sittings += 1
        self.chairs[seat] = Chair(who=who, sitting=self.sittings)
        self._company_changed = True
        if self.pot is not None:
            self.pot.given_up.discard(who)
        if self.vote is not None:
            self.vote.silent.add(who)
        self._note_company()

    def leave(self, who: str) -> None:
        chair = self._chair(who)
        if self.phase not in BUSY:
            self._stand_up(who, quits=self.counts and self.pot is not None)
        elif not chair.left:
            chair.left = True
            self._has_no_say(who)

    def start_now(self, who: str) -> None:
        self._chair(who)
        empty = [seat for seat, chair in enumerate(self.chairs) if chair.free and not chair.only_by_vote]
        first_count_in = self.phase == "counting_in" and self.round == 1
        if self.phase in DEALING or not (empty or first_count_in):
            raise No("not_now")
        for seat in empty:
            self._seat_bot(seat)
        if not empty:
            self.start_wanted = True
        self._acts(who)

    def is_ready(self, who: str) -> None:
        self._chair(who)
        if self.phase != "counting_in":
            raise No("not_now")
        self.ready.add(who)
        self._acts(who)

    def deal(self, who: str) -> None:
        seat = self._seat(who)
        if self.phase != "counting_in" or not self.host_deals:
            raise No("not_now")
        if seat != self.host:
            raise No("not_host")
        self.start_wanted = True
        self._acts(who)

    def is_back(self, who: str) -> None:
        chair = self._chair(who)
        if not (chair.away or chair.bot_plays or chair.expiries):
            raise No("not_now")
        self._acts(who)

    def send_bot_away(self, who: str, seat: int) -> None:
        self._chair(who)
        if self.phase in DEALING:
            raise No("round_running")
        if not self.chairs[seat].bot:
            raise No("not_a_bot")
        self.chairs[seat] = Chair(only_by_vote=True, emptied_by=who)
        self._culprit, self._company_changed = who, True
        self._acts(who)

    def send_player_away(self, who: str, seat: int) -> None:
        own = self._seat(who)
        if own != self.host:
            raise No("not_host")
        if self.started or self.phase in DEALING:
            raise No("not_now")
        other = self.chairs[seat].who
        if other is None or seat == own:
            raise No("nobody_else_there")
        self.not_before["sent_away", other] = self.now + SENT_AWAY_SECONDS
        self._stand_up(other)
        self._culprit = who
        self._acts(who)

    def change_seats(self, who: str, seats: int) -> None:
        """Where the game lets the host change their number: until the first count-in, and nobody loses a seat."""
        if self._seat(who) != self.host:
            raise No("not_host")
        if self.phase != "waiting" or self.game > 1 or self.count_ins:
            raise No("not_now")
        if any(chair.who is not None for chair in self.chairs[seats:]):
            raise No("option_invalid")
        if seats != len(self.chairs):
            self.chairs = [*self.chairs[:seats], *(Chair() for _ in range(seats - len(self.chairs)))]
            self._company_changed = True
        self._acts(who)

    def commit(self, who: str) -> None:
        self._chair(who)
        if self.phase != "counting_in" or who in self.committed:
            raise No("seed_late")
        self.committed.add(who)

    def open(self, who: str) -> None:
        self._chair(who)
        if self.phase != "opening_seeds" or who not in self.committed - self.opened:
            raise No("seed_late")
        self.opened.add(who)
        if self.opened == self.committed:
            self._begin()

    # Votes.

    def ask(self, who: str, about: str, seat: int | None) -> None:
        own = self._seat(who)
        self._refuse_question(own, about, seat)
        if about == "end_game" and self.people == [who]:
            self._acts(who)
            self.leave(who)
            return
        if self.vote is not None:
            raise No("vote_running")
        asked = self.votes_of.setdefault(who, [])
        often = len(asked) >= VOTES_A_MINUTE and asked[-VOTES_A_MINUTE] + 60.0 > self.now
        if often or self.vote_pauses.get((about, seat), 0.0) > self.now:
            raise No("vote_paused")
        self._acts(who)
        asked.append(self.now)
        silent = {
            chair.who
            for number, chair in enumerate(self.chairs)
            if chair.who and not chair.left and (about != "partner" or self._is_opponent(number))
        }
        self.vote = Vote(about, seat, who, silent - {who}, self.now + VOTE_SECONDS)

    def answer(self, who: str, *, agree: bool) -> None:
        self._chair(who)
        if self.vote is None:
            raise No("vote_over")
        if who not in self.vote.silent:
            raise No("not_asked")
        self._acts(who)
        self.vote.silent.discard(who)
        if not agree:
            self._end_vote(agreed=False, pauses=True)

    def _refuse_question(self, own: int, about: str, seat: int | None) -> None:
        match about:
            case "partner":
                if not any(len(team) == 2 and self.host in team for team in self.teams):
                    raise No("no_partners")
                if own != self.host:
                    raise No("not_host")
                if not self._before_game():
                    raise No("not_now")
                if seat is None:
                    raise No("seat_unknown")
                if not self._is_opponent(seat) or self.chairs[seat].free:
                    raise No("not_an_opponent")
            case "bot":
                if seat is None:
                    raise No("seat_unknown")
                if self.phase in DEALING:
                    raise No("round_running")
                if seat == own or not self.takeable(seat):  # Whoever asks is back by asking.
                    raise No("seat_taken")
            case _:
                if seat is not None:
                    raise No("seat_unknown")
                if not self.started or self.voided or self.ending:
                    raise No("not_now")

    def _before_game(self) -> bool:
        return not self.started and self.phase in ("waiting", "counting_in")

    def _is_opponent(self, seat: int) -> bool:
        return not any(seat in team and self.host in team for team in self.teams)

    def _vote_follows(self) -> bool:
        vote = self.vote
        if vote is None:
            return False
        asker = next((chair for chair in self.chairs if chair.who == vote.asker), None)
        if asker is None or asker.left or not self._makes_sense(vote):
            self._end_vote(agreed=False, pauses=False)
        elif not vote.silent:
            self._end_vote(agreed=True, pauses=False)
        return self.vote is None

    def _makes_sense(self, vote: Vote) -> bool:
        if vote.about == "partner":
            return self._before_game() and not self._company_changed
        if vote.about == "bot":
            return vote.seat is not None and self.phase == "waiting" and self.takeable(vote.seat)
        return self.started and not self.voided

    def _end_vote(self, *, agreed: bool, pauses: bool) -> None:
        vote, self.vote = self.vote, None
        assert vote is not None
        if pauses:
            self.vote_pauses[vote.about, vote.seat] = self.now + VOTE_PAUSE_SECONDS
        if not agreed:
            return
        if vote.about == "partner":
            assert vote.seat is not None
            (partner,) = (seat for team in self.teams if self.host in team for seat in team if seat != self.host)
            chairs = self.chairs
            chairs[partner], chairs[vote.seat] = chairs[vote.seat], chairs[partner]
            self.phase = "waiting"
        elif vote.about == "bot":
            assert vote.seat is not None
            self._seat_bot(vote.seat)
        else:
            self.ending = True
            if self.phase == "staking":
                self._ask_wallet("refunding", Payment("ended_early"))
            elif self.phase not in ("settling", "refunding"):
                self.phase = "waiting"

    # Connections, clocks, operators.

    def connected(self, who: str) -> None:
        if self.seat(who) is not None and not self._chair(who).online:
            self._comes_back(who)

    def disconnected(self, who: str) -> None:
        if self.seat(who) is not None:
            self._chair(who).online = False

    def rings(self, clock: Clock) -> None:
        """A clock that does not run any more has no effect. That of a turn is the cards' own: see `decided`."""
        if clock not in self.clocks:
            return
        match clock[0]:
            case "count_in":
                self._zero()
            case "seeds":
                self._begin()
            case "kept":
                who = next(chair.who for chair in self.chairs if chair.sitting == clock[1] and chair.who is not None)
                self._stand_up(who, quits=self.started and self.counts)
            case "vote":
                assert self.vote is not None
                agreed = self.vote.about == "bot"
                self._end_vote(agreed=agreed, pauses=not agreed)

    def void(self) -> None:
        if self.voided:
            return
        self.voided = True
        if self.phase == "refunding":
            return
        if self.phase in ("staking", "settling") or self.pot is not None:
            self._ask_wallet("refunding", Payment("voided"))
        else:
            self.phase = "waiting"

    # The cards.

    def decided(self, seat: int, by: str, *, told_by: str | None) -> None:
        """A decision of a seat was made: by the player who said it, a bot, or the fallback when time was up."""
        chair = self.chairs[seat]
        assert self.phase == "playing"
        if told_by is not None:
            assert (by, chair.who) == ("player", told_by)
            if chair.away or chair.bot_plays:
                self._comes_back(told_by)
            chair.expiries = 0
        elif self.a_bot_decides(seat):
            assert by == "bot"
        else:
            assert by == "clock"
            chair.expiries += 1
            chair.bot_plays = chair.expiries >= EXPIRIES

    def round_ended(self, outcome: Outcome) -> None:
        """After its last decision."""
        self.outcome, self.round_is_played = outcome, True
        if outcome.winners:
            self._ask_wallet("settling", self._shares(outcome))
        else:
            self._after_round()

    def _shares(self, outcome: Outcome) -> Payment:
        seats, winners = range(len(self.chairs)), outcome.winners
        again = tuple(seat for seat in seats if outcome.pays_again and seat not in winners)
        back = self._bets_back()
        share, rounding = divmod(self.bet * (len(seats) + len(again) - len(back)), len(winners))
        forfeiting = [seat for seat in winners if self.chairs[seat].away and not outcome.game_over]
        return Payment(
            "game_ended" if outcome.game_over else "round_ended",
            tuple(share if seat in winners and seat not in forfeiting else 0 for seat in seats),
            again,
            back,
            share * len(forfeiting),
            rounding,
        )

    def _bets_back(self, also: Collection[str | None] = ()) -> tuple[int, ...]:
        assert self.pot is not None
        entitled = {*self.pot.given_up, *also}
        return tuple(seat for seat, payer in enumerate(self.pot.payers) if payer in entitled)

    def _after_round(self) -> None:
        assert self.outcome is not None
        self.phase = "waiting"
        for chair in self.chairs:
            if chair.who is not None and not chair.away and chair.bot_rounds >= BOT_ROUNDS:
                chair.idle = True
        if self.outcome.game_over:
            self._end_game("played", [chair.who for chair in self.chairs if chair.who and chair.away])
        elif not self.ending:
            for who in self._those_who_left():
                self._stand_up(who, quits=self.counts, in_round=True)

    def _end_game(self, how: str, go: list[str]) -> None:
        self.games.append(how)
        self.game, self.round, self.round_is_played = self.game + 1, 0, True
        self.started = self.in_company = self.counts = self.ending = False
        for chair in self.chairs:
            chair.left, chair.only_by_vote, chair.emptied_by = False, False, None
        for who in go:
            self._stand_up(who)

    # The wallet.

    def wallet_says(self, *, done: bool, short: Collection[str] = ()) -> None:
        """The answer to the newest question."""
        payment, self.payment = self.payment, None
        match self.phase:
            case "staking" if done:
                self.pot = Pot(tuple(chair.who for chair in self.chairs))
                if self._those_who_left():
                    self._ask_wallet("refunding", Payment("left_while_staking"))
                else:
                    self._deal()
            case "staking":
                self.phase = "waiting"
                for who in [one for one in self.people if one in short]:
                    self._stops_a_count_in(who, stands_up=True)
                self._stand_up_those_who_left_while_staking()
            case "settling":
                assert done
                self._pot_is_gone()
                assert payment is not None
                if payment.purpose in ("round_ended", "game_ended"):
                    self._after_round()
            case "refunding":
                assert done or self.voided
                self._pot_is_gone()
                assert payment is not None
                if payment.purpose == "left_while_staking" and not self.voided:
                    self._stand_up_those_who_left_while_staking()

    def _pot_is_gone(self) -> None:
        self.pot, self.phase = None, "waiting"

    def _stand_up_those_who_left_while_staking(self) -> None:
        for who in self._those_who_left():
            self._stops_a_count_in(who, stands_up=True)

    def _ask_wallet(self, phase: str, payment: Payment) -> None:
        self.phase, self.payment = phase, payment

    # What happens by itself.

    def rest(self) -> None:
        """Until nothing follows any more; then the clocks are looked at."""
        for _ in range(STEPS_MAX):
            if not (self._vote_follows() or self._follows()):
                break
        else:
            raise AssertionError("the model does not come to rest")
        self._culprit, self._company_changed = None, False
        self.clocks = {clock: self.clocks.get(clock, ends) for clock, ends in self._running()}

    def _follows(self) -> bool:
        if self.phase in ("playing", "closed"):
            return False
        if self.phase == "waiting" and (self.voided or self.ending):
            return self._winds_up()
        if self.phase in ("counting_in", "opening_seeds") and (not self.people or not self.full):
            assert self._culprit is not None
            self.phase = "waiting"
            self._stops_a_count_in(self._culprit)
            return True
        if not self.people:
            return self._is_empty()
        if self.chairs[self.host].who is None:
            sitting = [(chair.sitting, seat) for seat, chair in enumerate(self.chairs) if chair.who is not None]
            self.host, self._company_changed = min(sitting)[1], True
            return True
        if self.phase == "waiting" and self.full and not any(chair.away for chair in self.chairs):
            self._start_count_in()
            return True
        if self.phase == "counting_in" and (self.start_wanted or self.ready.issuperset(self.people)):
            self._zero()
            return True
        return False

    def _winds_up(self) -> bool:
        if self.voided:
            if self.started:
                self._end_game("voided", [])
            for who in self.people:
                self._stand_up(who)
            self.phase = "closed"
        elif self.pot is None:
            self._end_game("ended_early", self._those_who_left())
        else:
            back = self._bets_back([None, *self.people])
            forfeit = self.bet * (len(self.chairs) - len(back))
            self._ask_wallet("settling" if forfeit else "refunding", Payment("ended_early", back=back, forfeit=forfeit))
        return True

    def _is_empty(self) -> bool:
        if self.phase != "waiting":
            return False
        if self.pot is None:
            self.phase = "closed"
        else:
            back = self._bets_back()
            forfeit = self.bet * (len(self.chairs) - len(back))
            self._ask_wallet("settling", Payment("table_closed", back=back, forfeit=forfeit))
        return True

    def _start_count_in(self) -> None:
        self.phase, self.count_ins = "counting_in", self.count_ins + 1
        self.round += self.round_is_played
        self.round_is_played = False
        self.start_wanted = False
        self.ready, self.committed, self.opened = set(), set(), set()

    def _zero(self) -> None:
        away = next((chair.who for chair in self.chairs if chair.away), None)
        if away is not None:
            self.phase = "waiting"
            self._stops_a_count_in(away)
        elif self.committed:
            self.phase = "opening_seeds"
        else:
            self._begin()

    def _begin(self) -> None:
        if self.pot is None:
            self.phase = "staking"
        else:
            self._deal()

    def _deal(self) -> None:
        if not self.started:
            self.started = True
            self._note_company()
        self.phase = "playing"
        self.counts = self.counts or self.in_company
        self.stops = {}
        for chair in self.chairs:
            chair.bot_rounds = chair.bot_rounds + 1 if chair.bot_plays else 0

    def _running(self) -> Iterator[tuple[Clock, float]]:
        match self.phase:
            case "counting_in":
                yield ("count_in", self.count_ins), self.now + COUNT_IN_SECONDS
            case "opening_seeds":
                yield ("seeds", self.count_ins), self.now + SEEDS_SECONDS
            case "playing":
                yield ("turn", self.game, *self.turn), self.now + self.turn_seconds
            case "waiting":
                seconds = KEPT_IN_GAME_SECONDS if self.started else KEPT_BEFORE_SECONDS
                for chair in self.chairs:
                    if chair.away:
                        yield ("kept", chair.sitting, self.started), self.now + seconds
        if self.vote is not None:
            yield ("vote", self.vote.asker), self.vote.ends

    def goes_on(self, before: float) -> None:
        """The same seat decides on, with what it had left, and some seconds at least (CP-16)."""
        turn = next(clock for clock in self.clocks if clock[0] == "turn")
        self.clocks[turn] = max(before, self.now + SAME_TURN_SECONDS)

    # Small things.

    def _seat(self, who: str) -> int:
        seat = self.seat(who)
        if seat is None:
            raise No("not_seated")
        return seat

    def _chair(self, who: str) -> Chair:
        return self.chairs[self._seat(who)]

    def _next_seat(self) -> int:
        ours = next((team for team in self.teams if self.host in team), ())
        order = sorted(range(len(self.chairs)), key=lambda seat: (seat not in ours, seat))
        free = [seat for seat in order if self.chairs[seat].free]
        kept = [seat for seat in order if self.takeable(seat)]
        if not kept:
            raise No("table_full")
        return (free or kept)[0]

    def _seat_bot(self, seat: int) -> None:
        self._take_from_the_absent(seat)
        self.chairs[seat] = Chair(bot=True)
        self._company_changed = True

    def _take_from_the_absent(self, seat: int) -> None:
        who = self.chairs[seat].who
        if who is not None:
            self._stand_up(who, quits=self.started and self.counts)

    def _stand_up(self, who: str, *, quits: bool = False, in_round: bool = False) -> None:
        """Nobody quits who only gives up waiting for somebody else inside a stake unit: they have their bet back."""
        seat = self._seat(who)
        waits = self.pot is not None and self.phase == "waiting" and not in_round
        if waits and any(chair.emptied_by not in (None, who) for chair in self.chairs):
            assert self.pot is not None
            self.gave_up.append(who)
            if who in self.pot.payers:
                self.pot.given_up.add(who)
        elif quits:
            self.quits.append(who)
        self.chairs[seat] = Chair(only_by_vote=True, emptied_by=who) if self.started else Chair()
        self._culprit, self._company_changed = who, True
        self._has_no_say(who)

    def _has_no_say(self, who: str) -> None:
        if self.vote is not None:
            self.vote.silent.discard(who)

    def _stops_a_count_in(self, who: str, *, stands_up: bool = False) -> None:
        quits = False
        if stands_up:
            self._stand_up(who)
        self.stops[who] = self.stops.get(who, 0) + 1
        if self.stops[who] < STOPS:
            return
        self.not_before["sitting_paused", who] = self.now + STOPPER_SECONDS
        self._company_changed = True
        if self.seat(who) is not None:
            quits = self._chair(who).away and self.started and self.counts
            self._stand_up(who, quits=quits)

    def _those_who_left(self) -> list[str]:
        return [chair.who for chair in self.chairs if chair.who is not None and chair.left]

    def _acts(self, who: str) -> None:
        """Any own action: the seat is the player's again."""
        if self.seat(who) is not None:
            self._comes_back(who)

    def _comes_back(self, who: str) -> None:
        chair = self._chair(who)
        self.chairs[self._seat(who)] = replace(
            chair, online=True, left=False, idle=False, bot_plays=False, expiries=0, bot_rounds=0
        )

    def _note_company(self) -> None:
        self.in_company = self.in_company or (self.started and len(self.people) > 1)
