"""The stored events of a table. They are for ever: add a field with a default or a new kind, never change one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from darbar_contracts.frames import VoteAbout
from darbar_contracts.tables import Person, TableTerms
from darbar_contracts.wallet import RefundPurpose, SettlePurpose
from darbar_table.domain.event import Event as Event
from darbar_table.domain.event import SeatEvent as SeatEvent
from darbar_table.domain.event import snake_case

By = Literal["player", "clock", "bot", "table"]
FreedReason = Literal[
    "left",
    "left_while_staking",
    "not_back",
    "taken_over",
    "short_of_coins",
    "stopped_count_ins",
    "sent_away",
    "game_over",
    "voided",
]
StopReason = Literal["seat_freed", "seat_offline", "bot_sent_away", "sent_away"]
GameEndReason = Literal["played", "voided", "ended_early"]
VoteEndReason = Literal["agreed", "refused", "timed_out", "overtaken"]
GameEvent = TypeVar("GameEvent")


class TableCreated(Event, frozen=True):
    """A table was opened; its host sits in seat 0."""

    terms: TableTerms
    host: Person


class SeatTaken(SeatEvent, frozen=True, kw_only=True):
    """A player sat down; during a game the seat's score goes on (TL-33)."""

    account_id: str
    name: str
    avatar: str


class SeatFreed(SeatEvent, frozen=True, kw_only=True):
    """A seat became free. `quit`: it counts as one on the player's profile.

    `gave_up`: inside a stake unit, after the game had waited for somebody else: the bet goes back (TL-37).
    """

    account_id: str
    reason: FreedReason
    quit: bool = False
    gave_up: bool = False


class BotSeated(SeatEvent, frozen=True, kw_only=True):
    """A bot took an empty seat."""

    name: str


class BotSentAway(SeatEvent, frozen=True, kw_only=True):
    """A bot was taken out of its seat by `actor` (TL-25); the table waits for a player, or for a bot by vote."""

    actor: int


class PlayerSentAway(SeatEvent, frozen=True, kw_only=True):
    """The host, in seat `actor`, sends a player away, who can't sit down here before `until` (TL-8). The seat is freed
    by the event that follows."""

    actor: int
    account_id: str
    until: datetime


class OptionsChanged(SeatEvent, frozen=True, kw_only=True):
    """The host changed options before the first count-in; `terms` are those from now on, with their seats (TL-1)."""

    terms: TableTerms


class HostChanged(SeatEvent, frozen=True, kw_only=True):
    """The longest-seated player became host (TL-8)."""


class SittingPaused(Event, frozen=True):
    """Somebody stopped count-in after count-in, and can't sit down here before `until` (TL-13)."""

    account_id: str
    until: datetime


class StartAsked(SeatEvent, frozen=True, kw_only=True):
    """Somebody asked to start sooner with all seats taken: the first count-in ends at once (TL-9)."""


class DealAsked(SeatEvent, frozen=True, kw_only=True):
    """The host deals: the count-in ends (TL-10)."""


class SeatReady(SeatEvent, frozen=True, kw_only=True):
    """A player is ready for the next round (TL-9)."""


class BagOpened(Event, frozen=True):
    """A new bag of seven filter flags (CP-7). `seed` is a secret until the bag is empty."""

    bag: int
    commitment: str
    seed: str


class CountInStarted(Event, frozen=True):
    """The count-in for a round. `server_seed` (hex) is a secret until the round's result is stored."""

    game: int
    round: int
    attempt: int
    seconds: float
    commitment: str
    server_seed: str


class CountInStopped(Event, frozen=True):
    """A count-in ended without a deal; its seed is never used. `account_id`: whose leaving or absence stopped it."""

    reason: StopReason
    account_id: str


class SeedCommitted(SeatEvent, frozen=True, kw_only=True):
    """A client committed to its string for the coming deal."""

    sha256: str


class SeedsAsked(Event, frozen=True):
    """Zero: the clients that committed open their strings now."""

    seats: tuple[int, ...]


class SeedOpened(SeatEvent, frozen=True, kw_only=True):
    """A client opened its string, as committed."""

    string: str


class StakesAsked(Event, frozen=True):
    """The wallet is asked for the stakes of every seat."""

    key: str
    unit: str
    attempt: int
    bet_coins: int


class StakesGranted(Event, frozen=True):
    """Every seat has paid."""

    key: str


class StakesRefused(Event, frozen=True):
    """Nobody has paid; `short` names the seats that lack coins."""

    key: str
    reason: str
    short: tuple[int, ...] = ()


class GameStarted(Event, frozen=True):
    """A game begins with its first deal. `rules_version` says which rules decide it."""

    game: int
    rules_version: int


class RoundStarted(Event, frozen=True):
    """The stakes lie and the seeds are final: the deal follows. `left_out`: seats that committed and did not open."""

    game: int
    round: int
    left_out: tuple[int, ...]


class Played(Event, Generic[GameEvent], frozen=True):
    """Something of the game itself: `event` is the game's own. Its stored kind is the game event's kind.

    `by` says who decided: a player, the clock (the fallback), a bot, or the table (deals, automatic plays).
    """

    seat: int | None
    by: By
    event: GameEvent
    id: str | None = None
    digest: int = 0

    @property
    def actor(self) -> int | None:
        return None if self.id is None else self.seat


class SeedsShown(Event, frozen=True):
    """The chance of a round that is over, for everybody to check; `bag_seed` when its bag is empty."""

    game: int
    round: int
    server_seed: str
    strings: dict[str, str]
    left_out: tuple[int, ...]
    filtered: bool
    bag: int
    bag_seed: str | None = None


class SettleAsked(Event, frozen=True):
    """The wallet is asked to share the pot. `shares`: what each seat gets. `pays_again`: seats that pay once more.

    `bets_back`: seats whose bet goes back to who paid it.
    """

    key: str
    stake_key: str
    unit: str
    purpose: SettlePurpose
    shares: tuple[int, ...]
    pays_again: tuple[int, ...]
    forfeit_coins: int
    rounding_coins: int
    bets_back: tuple[int, ...] = ()


class Settled(Event, frozen=True):
    """The wallet has shared the pot."""

    key: str


class RefundAsked(Event, frozen=True):
    """The stakes of a unit go back."""

    key: str
    stake_key: str
    unit: str
    purpose: RefundPurpose


class Refunded(Event, frozen=True):
    """The stakes are back."""

    key: str


class RefundRefused(Event, frozen=True):
    """The stakes of a voided table had been shared out before: nothing is left to go back."""

    key: str
    reason: str


class PlayerWentOffline(SeatEvent, frozen=True, kw_only=True):
    """A connection has been lost for longer than the grace (TL-42)."""


class PlayerCameBack(SeatEvent, frozen=True, kw_only=True):
    """Connected again, or acted again: the seat is its player's."""


class PlayerWentIdle(SeatEvent, frozen=True, kw_only=True):
    """A bot alone has played round after round for a player who is connected: the seat counts as away (TL-16)."""


class LeaveAsked(SeatEvent, frozen=True, kw_only=True):
    """Leave was pressed while a round runs or stakes are asked: the seat is freed at its end (TL-29, TL-14)."""


class BotTookOver(SeatEvent, frozen=True, kw_only=True):
    """Five expiries in a row: a bot plays until the player acts (TL-16)."""


class VoteAsked(SeatEvent, frozen=True, kw_only=True):
    """A player asks the others for something about `about_seat`; who is asked has `seconds` (TL-5, TL-26, TL-39)."""

    vote: int
    about: VoteAbout
    about_seat: int | None
    waits_for: tuple[int, ...]
    seconds: float
    at: datetime


class VoteAnswered(SeatEvent, frozen=True, kw_only=True):
    """One of those who were asked has answered."""

    vote: int
    agree: bool


class VoteEnded(Event, frozen=True):
    """What came of a vote, and why; what was agreed follows. The same is not asked again before `paused_until`."""

    vote: int
    about: VoteAbout
    about_seat: int | None
    agreed: bool
    reason: VoteEndReason
    paused_until: datetime | None = None


class SeatsSwapped(Event, frozen=True):
    """The holders of two seats have changed places (TL-5); a count-in that ran begins again."""

    seats: tuple[int, int]


class GameEnded(Event, frozen=True):
    """A game is over. One place a seat, none of a game that was not played to its end; the names are the results'."""

    game: int
    reason: GameEndReason
    places: tuple[int, ...]
    totals: tuple[int, ...]
    names: tuple[str, ...]


class TableResumed(Event, frozen=True):
    """An operator lets a table that was stopped by a fault go on; `why` is for the log."""

    operator: str
    why: str


class TableVoided(Event, frozen=True):
    """An operator ends the table: nothing of an unfinished unit counts, and its stakes go back (TL-24)."""

    operator: str
    why: str


class TableClosed(Event, frozen=True):
    """The table is over."""

    reason: Literal["empty", "voided"]


SentAwayEvent: TypeAlias = BotSentAway | PlayerSentAway
SeatingEvent: TypeAlias = (
    SeatTaken | SeatFreed | BotSeated | SentAwayEvent | OptionsChanged | HostChanged | SittingPaused
)
AskedEvent: TypeAlias = StartAsked | DealAsked | SeatReady | SeedCommitted | SeedOpened
CountInEvent: TypeAlias = AskedEvent | BagOpened | CountInStarted | CountInStopped | SeedsAsked
StakeEvent: TypeAlias = (
    StakesAsked | StakesGranted | StakesRefused | SettleAsked | Settled | RefundAsked | Refunded | RefundRefused
)
PresenceEvent: TypeAlias = PlayerWentOffline | PlayerCameBack | PlayerWentIdle | LeaveAsked | BotTookOver
OperatorEvent: TypeAlias = TableResumed | TableVoided
VoteEvent: TypeAlias = VoteAsked | VoteAnswered | VoteEnded | SeatsSwapped
CourseEvent: TypeAlias = (
    TableCreated | GameStarted | RoundStarted | SeedsShown | GameEnded | OperatorEvent | TableClosed
)
OwnEvent: TypeAlias = SeatingEvent | CountInEvent | StakeEvent | PresenceEvent | VoteEvent | CourseEvent
TableEvent: TypeAlias = OwnEvent | Played[Any]

OWN: tuple[type[OwnEvent], ...] = get_args(OwnEvent)
KIND_OF: Mapping[type[Event], str] = {event: snake_case(event.__name__) for event in OWN}
