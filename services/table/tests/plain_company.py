"""Who sits at the plain table, whose coins lie there and what was asked: its state, and how seats change hands.

Open plain_table.py first.
"""

from __future__ import annotations

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
class PlainSeat:
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
    """Who paid for each seat (None: a bot sat there), and who of them has the bet back in the end."""

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


class PlainCompany:
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
        self.plain_seats = [PlainSeat(who=host), *(PlainSeat() for _ in range(seats - 1))]
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
        return [plain_seat.who for plain_seat in self.plain_seats if plain_seat.who is not None]

    def seat(self, who: str) -> int | None:
        return next((number for number, plain_seat in enumerate(self.plain_seats) if plain_seat.who == who), None)

    def a_bot_decides(self, seat: int) -> bool:
        plain_seat = self.plain_seats[seat]
        return plain_seat.bot or plain_seat.away or plain_seat.bot_plays

    @property
    def full(self) -> bool:
        return not any(plain_seat.free for plain_seat in self.plain_seats)

    def takeable(self, seat: int) -> bool:
        plain_seat = self.plain_seats[seat]
        return plain_seat.free or (plain_seat.away and self.started and self.phase == "waiting")

    # Small things.

    def _seat(self, who: str) -> int:
        seat = self.seat(who)
        if seat is None:
            raise No("not_seated")
        return seat

    def _plain_seat(self, who: str) -> PlainSeat:
        return self.plain_seats[self._seat(who)]

    def _next_seat(self) -> int:
        ours = next((team for team in self.teams if self.host in team), ())
        order = sorted(range(len(self.plain_seats)), key=lambda seat: (seat not in ours, seat))
        free = [seat for seat in order if self.plain_seats[seat].free]
        kept = [seat for seat in order if self.takeable(seat)]
        if not kept:
            raise No("table_full")
        return (free or kept)[0]

    def _seat_bot(self, seat: int) -> None:
        self._take_from_the_absent(seat)
        self.plain_seats[seat] = PlainSeat(bot=True)
        self._company_changed = True

    def _take_from_the_absent(self, seat: int) -> None:
        who = self.plain_seats[seat].who
        if who is not None:
            self._stand_up(who, quits=self.started and self.counts)

    def _stand_up(self, who: str, *, quits: bool = False, in_round: bool = False) -> None:
        """Nobody quits who only gives up waiting for somebody else inside a stake unit: they have their bet back."""
        seat = self._seat(who)
        waits = self.pot is not None and self.phase == "waiting" and not in_round
        if waits and any(plain_seat.emptied_by not in (None, who) for plain_seat in self.plain_seats):
            assert self.pot is not None
            self.gave_up.append(who)
            if who in self.pot.payers:
                self.pot.given_up.add(who)
        elif quits:
            self.quits.append(who)
        self.plain_seats[seat] = PlainSeat(only_by_vote=True, emptied_by=who) if self.started else PlainSeat()
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
            quits = self._plain_seat(who).away and self.started and self.counts
            self._stand_up(who, quits=quits)

    def _those_who_left(self) -> list[str]:
        return [plain_seat.who for plain_seat in self.plain_seats if plain_seat.who is not None and plain_seat.left]

    def _acts(self, who: str) -> None:
        """Any own action: the seat is the player's again."""
        if self.seat(who) is not None:
            self._comes_back(who)

    def _comes_back(self, who: str) -> None:
        plain_seat = self._plain_seat(who)
        self.plain_seats[self._seat(who)] = replace(
            plain_seat, online=True, left=False, idle=False, bot_plays=False, expiries=0, bot_rounds=0
        )

    def _note_company(self) -> None:
        self.in_company = self.in_company or (self.started and len(self.people) > 1)
