"""What every game promises to the table, and the reasons for which it refuses. Open this first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypedDict, TypeVar

from darbar_rules.deal import Chance
from darbar_rules.options import Option, check_each, options_of
from darbar_rules.values import made_quickly

Direction = Literal["clockwise", "anticlockwise"]  # as seen on a screen
StakeUnit = Literal["round", "game"]

NOBODY: Final[Mapping[int, Mapping[str, Any]]] = MappingProxyType({})  # sees anything beside the others
TURNS_KEPT_MAX: Final = 16_384

Options = TypeVar("Options")
State = TypeVar("State")
Event = TypeVar("Event")
Decision = TypeVar("Decision")
View = TypeVar("View")
Record = TypeVar("Record")


class Refusal(StrEnum):
    """Why the rules refuse a decision: code and sentence for people. Once released, a code is never renamed."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Refusal:
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member

    CARD_UNKNOWN = "card_unknown", "There is no such card in this game."
    SUIT_UNKNOWN = "suit_unknown", "There is no such suit."
    DECISION_UNKNOWN = "decision_unknown", "This game has no such decision."
    CARD_NOT_HELD = "card_not_held", "You do not hold this card."
    MUST_FOLLOW_SUIT = "must_follow_suit", "You must follow suit."
    MUST_PLAY_TRUMP = "must_play_trump", "You must play a trump."
    NOT_YOUR_TURN = "not_your_turn", "It is not your turn."
    NOT_NOW = "not_now", "This can't be done now."
    TRUMP_NOT_CHOSEN = "trump_not_chosen", "The trump has not been chosen yet."
    TRUMP_ALREADY_SHOWN = "trump_already_shown", "The trump has already been shown."
    MAY_NOT_ASK = "may_not_ask", "You may not ask for the trump now."
    MAY_NOT_SHOW = "may_not_show", "You may not show the trump now."
    CONTRACT_UNKNOWN = "contract_unknown", "There is no such contract in this game."
    CONTRACT_NOT_LEFT = "contract_not_left", "You can't choose this contract any more."
    CONTRACT_NOT_DECLARED = "contract_not_declared", "The contract has not been declared yet."
    MAY_NOT_LEAD_HEARTS = "may_not_lead_hearts", "You may not lead a heart yet."
    MUST_OVERTRUMP = "must_overtrump", "You must play a higher trump."
    MUST_UNDERPLAY = "must_underplay", "You must play a card that does not win the trick."
    MUST_PLAY_PENALTY_CARD = "must_play_penalty_card", "You must play a penalty card."
    MUST_PLAY_KING_OF_HEARTS = "must_play_king_of_hearts", "You must play the king of hearts."
    BID_TOO_LOW = "bid_too_low", "This bid is too low."
    BID_TOO_HIGH = "bid_too_high", "This bid is too high."
    BID_NOT_MULTIPLE_OF_5 = "bid_not_multiple_of_5", "A bid is a multiple of 5."
    ALREADY_PASSED = "already_passed", "You have already passed."
    MAY_NOT_PASS = "may_not_pass", "You may not pass."
    CONVERT_UNKNOWN = "convert_unknown", "This play of a card can't be named."
    CONVERT_NAMED_TWICE = "convert_named_twice", "The same play of a card is named twice."
    CONVERT_COUNT_WRONG = "convert_count_wrong", "Too few or too many plays of cards are named."


class RuleRefused(Exception):
    """The rules do not allow this decision: nothing has changed."""

    def __init__(self, code: Refusal, **details: object) -> None:
        super().__init__(code.value)
        self.code = code
        self.details = details


def check_turn(to_act: int | None, seat: int) -> None:
    """Raises RuleRefused unless this seat is to decide; `to_act` is None where nobody is."""
    if seat != to_act:
        raise RuleRefused(Refusal.NOT_NOW if to_act is None else Refusal.NOT_YOUR_TURN)


class Turn(NamedTuple):
    """Where a game stands: `seats` may decide now (usually one); none while the table must deal or the game is over.

    `dealt` is the turn at which the cards in play were dealt: a decision that is accepted out of turn is stale when it
    names an earlier one, for then it was about other cards (KR-8).
    """

    round: int
    turn: int
    seats: tuple[int, ...]
    game_over: bool = False
    dealt: int = 0

    def is_named_by(self, round: int, turn: int, *, out_of_turn: bool) -> bool:
        """Whether a decision that names this round and turn is about where the game stands now (GEN-4)."""
        if out_of_turn:
            return round == self.round and self.dealt <= turn <= self.turn
        return (round, turn) == (self.round, self.turn)


# Asked for several times with every card, and at every table the same ones come.
@lru_cache(maxsize=TURNS_KEPT_MAX)
def turn_of_one(round: int, turn: int, seat: int | None, game_over: bool, *, dealt: int = 0) -> Turn:
    """A turn of one seat, or of none."""
    return Turn(round, turn, () if seat is None else (seat,), game_over, dealt)


@made_quickly
@dataclass(frozen=True, slots=True)
class Legal:
    """What one seat may decide now, in the words of the wire.

    `play`: cards (`"AS"`); `name`: what `choose_trump`, `declare` ... may name;
    `also`: decision types without an argument.
    """

    play: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Shown(NamedTuple):
    """What an event lets be seen: `public` by everyone, spectators too; `secret[seat]` by that seat alone.

    Both are mappings ready for JSON. A field that is named in neither is seen by nobody.
    """

    public: Mapping[str, Any]
    secret: Mapping[int, Mapping[str, Any]] = NOBODY


@dataclass(frozen=True, slots=True)
class ShownTypes:
    """What `show` makes of one kind of event, exactly: TypedDicts, or the event itself where all of it is shown."""

    public: type
    secret: type | None = None


class OwnHand(TypedDict):
    """What a seat alone is told when it gets cards."""

    hand: Sequence[str]


def told(event: object, *names: str) -> dict[str, Any]:
    """These fields of an event, by name: the others are seen by nobody."""
    return {name: getattr(event, name) for name in names}


@dataclass(frozen=True, slots=True)
class RoundResult:
    """How the last finished round came out, in the terms of coins and scores; nothing of any one game.

    `points` and `totals` have one number a seat (partners have the same one). `winners` share the pot of the stake
    unit that ended with this round (empty: the unit goes on). `losers_pay_again`: each other seat pays the bet once
    more (CP-34). `places` has one place a seat when the game is over (GEN-8), else it is empty.
    """

    round: int
    points: tuple[int, ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    losers_pay_again: bool
    game_over: bool
    places: tuple[int, ...] = ()


def nobody_is_a_partner(options: object, seats: int) -> tuple[tuple[int, ...], ...]:
    """Everyone plays alone, or finds out in play with whom."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Game(Generic[Options, State, Event, Decision, View, Record]):
    """One game: what it is called, and the functions that keep its promises.

    Its types are its own, all immutable; seats are 0..n-1 in the order of play. `decide` refuses with `RuleRefused` and
    changes nothing; `evolve` copies outcomes and never refuses.
    """

    name: str
    title: str
    rules_version: int
    direction: Direction
    stake_unit: StakeUnit
    host_deals: bool = False  # the host may end a count-in by dealing (TL-10)
    out_of_turn: frozenset[str] = frozenset()  # types of decisions that may name an earlier turn of their deal (KR-8)
    same_clock_after: frozenset[str] = frozenset()  # kinds after which the turn goes on with the same clock (CP-16)

    options_type: type[Options]
    state_type: type[State]  # named tuples, dataclasses and plain values, exactly typed: it can be stored and read back
    state_version: int  # a stored state of another one is of no use: replay the events
    view_type: type[View]
    events: Mapping[str, type[Event]]  # kind as stored -> frozen dataclass
    decisions: Mapping[str, type[Decision]]  # type on the wire -> frozen dataclass
    shown: Mapping[str, ShownTypes]  # kind as stored -> what of it is sent: clients are written from these

    # Raises OptionInvalid for a value or a combination that is not offered.
    check_options: Callable[[Options], None] = check_each
    # The numbers of seats that this table may have, the default first.
    seat_counts: Callable[[Options], tuple[int, ...]]
    # The teams that are known from the start, each a tuple of seats; empty when everyone plays alone.
    partners: Callable[[Options, int], tuple[tuple[int, ...], ...]] = nobody_is_a_partner
    # The state before the first deal, for so many seats.
    new: Callable[[Options, int], State]
    # The events that begin the next round.
    deal: Callable[[State, Chance], tuple[Event, ...]]
    # The events that follow from what this seat decides, outcomes included.
    decide: Callable[[State, int, Decision, Chance], tuple[Event, ...]]
    # The state after an event.
    evolve: Callable[[State, Event], State]
    # Whose decision is due.
    turn: Callable[[State], Turn]
    # Everything that this seat may decide now; empty when nothing. Off turn: `out_of_turn` decisions alone.
    legal: Callable[[State, int], Legal]
    # Decisions that `legal` stands for, all or some of each kind, for whoever picks blindly: `also` comes last.
    choices: Callable[[Legal], tuple[Decision, ...]]
    # All that a seat (None: a spectator) may know.
    view: Callable[[State, int | None], View]
    # What an event lets be seen; the state is the one that it was applied to.
    show: Callable[[State, Event], Shown]
    # The decision taken for a seat whose time is up, from its view alone (GEN-5).
    fallback: Callable[[View], Decision]
    # The result of the round that has just ended; None before that and while one is played.
    result: Callable[[State], RoundResult | None]
    # How the cards of the round that is played, or has just ended, were dealt, for `verify_deal`; None before. It holds
    # every hand: to be shown when the round is over or was broken off, never before.
    deal_record: Callable[[State], Record | None]
    # Deals the round of this number again from its seeds and says what differs from its record: nothing, when proven.
    verify_deal: Callable[[Options, Record, Chance, int], tuple[str, ...]]

    _kinds: Mapping[type[Event], str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_kinds", {event: kind for kind, event in self.events.items()})

    def __repr__(self) -> str:
        return f"Game({self.name})"

    def kind_of(self, event: Event) -> str:
        """The stored kind of an event."""
        return self._kinds[type(event)]

    @property
    def options(self) -> tuple[Option, ...]:
        """What a table can choose."""
        return options_of(self.options_type)


# A game whose types only the game itself knows: what the registry holds, and what services work with.
AnyGame: TypeAlias = Game[Any, Any, Any, Any, Any, Any]
