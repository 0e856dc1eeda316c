"""What every game promises to the table, and the reasons for which it refuses. Open this first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from darbar_rules.deal import Chance


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


class OptionInvalid(Exception):
    """An option of a new table is not allowed; `option` names the field, `reason` is a sentence for people."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Turn:
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


@dataclass(frozen=True, slots=True)
class Legal:
    """What one seat may decide now, in the words of the wire.

    `play`: cards (`"AS"`); `name`: what `choose_trump`, `declare` ... may name;
    `also`: decision types without an argument.
    """

    play: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What an event lets be seen: `public` by everyone, spectators too; `secret[seat]` by that seat alone.

    Both are mappings ready for JSON. A field that is named in neither is seen by nobody.
    """

    public: Mapping[str, Any]
    secret: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


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


class Game(Protocol):
    """One game. State, event, decision and option types are its own, all frozen; seats are 0..n-1 in the order of play.

    `decide` refuses with `RuleRefused` and changes nothing; `evolve` copies outcomes and never refuses.
    """

    name: str
    title: str
    rules_version: int
    direction: str  # "clockwise" or "anticlockwise", as seen on a screen
    stake_unit: str  # "round" or "game"
    options_type: type[Any]
    options_explained: Mapping[str, str]  # what each option changes, one sentence for people
    option_values: Mapping[str, tuple[Any, ...]]  # every value that each option may have, the default first
    view_type: type[Any]
    events: Mapping[str, type[Any]]  # kind as stored -> frozen dataclass
    decisions: Mapping[str, type[Any]]  # type on the wire -> frozen dataclass
    out_of_turn: frozenset[str]  # types of decisions that are accepted whatever turn they name (KR-8)
    host_deals: bool  # the host may end a count-in by dealing (TL-10)
    same_clock_after: frozenset[str]  # kinds after which the turn goes on with the same seat and clock (CP-16)

    def check_options(self, options: Any) -> None:
        """Raise OptionInvalid for a value or a combination that is not offered."""

    def seat_counts(self, options: Any) -> tuple[int, ...]:
        """The numbers of seats that this table may have, the default first."""

    def partners(self, options: Any, seats: int) -> tuple[tuple[int, ...], ...]:
        """The teams that are known from the start, each a tuple of seats; empty when everyone plays alone."""

    def new(self, options: Any, seats: int) -> Any:
        """The state before the first deal."""

    def deal(self, state: Any, chance: Chance) -> tuple[Any, ...]:
        """The events that begin the next round."""

    def decide(self, state: Any, seat: int, decision: Any, chance: Chance) -> tuple[Any, ...]:
        """The events that follow from what this seat decides, outcomes included."""

    def evolve(self, state: Any, event: Any) -> Any:
        """The state after an event."""

    def turn(self, state: Any) -> Turn:
        """Whose decision is due."""

    def legal(self, state: Any, seat: int) -> Legal:
        """Everything that this seat may decide now; empty when nothing. Off turn: `out_of_turn` decisions alone."""

    def choices(self, legal: Legal) -> tuple[Any, ...]:
        """Decisions that `legal` stands for, all or some of each kind, for whoever picks blindly: `also` comes last."""

    def view(self, state: Any, seat: int | None) -> Any:
        """All that a seat (None: a spectator) may know, as `view_type`."""

    def show(self, before: Any, event: Any) -> Shown:
        """What an event lets be seen; `before` is the state it was applied to."""

    def fallback(self, view: Any) -> Any:
        """The decision taken for a seat whose time is up, from its view alone (GEN-5)."""

    def kind_of(self, event: Any) -> str:
        """The stored kind of an event."""

    def result(self, state: Any) -> RoundResult | None:
        """The result of the round that has just ended; None before that and while one is played."""

    def deal_record(self, state: Any) -> Any:
        """How the cards of the round that is played, or has just ended, were dealt, for `verify_deal`; None before.

        It holds every hand: to be shown when the round is over or was broken off, never before.
        """

    def verify_deal(self, options: Any, record: Any, chance: Chance, *, round: int) -> tuple[str, ...]:
        """Deal that round again from its seeds and say what differs from its record: nothing, when it is proven."""
