"""The stored events of a table. They are for ever: add a field with a default or a new kind, never change one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

import msgspec

from darbar_contracts.tables import Person, TableTerms
from darbar_contracts.wallet import RefundPurpose, SettlePurpose

By = Literal["player", "clock", "bot", "table"]
GameEvent = TypeVar("GameEvent")


class Event(msgspec.Struct, frozen=True):
    """What has happened at a table. Its kind is the class's name in snake case, see KINDS."""


class TableCreated(Event, frozen=True):
    """A table was opened; its host sits in seat 0."""

    terms: TableTerms
    host: Person


class SeatTaken(Event, frozen=True):
    """A player sat down. `during_game`: the seat's score goes on (TL-33)."""

    seat: int
    account_id: str
    name: str
    avatar: str
    id: str | None = None
    digest: int = 0


class SeatFreed(Event, frozen=True):
    """A seat became free. `quit`: it counts as one on the player's profile. `reason`: why."""

    seat: int
    account_id: str
    reason: Literal["left", "not_back", "short_of_coins", "game_over"]
    quit: bool = False
    id: str | None = None
    digest: int = 0


class BotSeated(Event, frozen=True):
    """A bot took an empty seat."""

    seat: int
    name: str


class BotSentAway(Event, frozen=True):
    """A bot was taken out of its seat (TL-25); the table waits for a player, or for a bot by vote."""

    seat: int
    by_seat: int
    id: str | None = None
    digest: int = 0


class HostChanged(Event, frozen=True):
    """The longest-seated player became host (TL-8)."""

    seat: int


class StartAsked(Event, frozen=True):
    """Somebody asked to start sooner with all seats taken: the first count-in ends at once (TL-9)."""

    seat: int
    id: str | None = None
    digest: int = 0


class DealAsked(Event, frozen=True):
    """The host deals: the count-in ends (TL-10)."""

    seat: int
    id: str | None = None
    digest: int = 0


class SeatReady(Event, frozen=True):
    """A player is ready for the next round (TL-9)."""

    seat: int
    id: str | None = None
    digest: int = 0


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
    """A count-in ended without a deal; its seed is never used."""

    reason: Literal["seat_freed", "seat_offline", "bot_sent_away"]


class SeedCommitted(Event, frozen=True):
    """A client committed to its string for the coming deal."""

    seat: int
    sha256: str
    id: str | None = None
    digest: int = 0


class SeedsAsked(Event, frozen=True):
    """Zero: the clients that committed open their strings now."""

    seats: tuple[int, ...]


class SeedOpened(Event, frozen=True):
    """A client opened its string, as committed."""

    seat: int
    string: str
    id: str | None = None
    digest: int = 0


class StakesAsked(Event, frozen=True):
    """The wallet is asked for the stakes of every seat. `left_out`: seats that committed and did not open."""

    key: str
    unit: str
    attempt: int
    bet_coins: int
    left_out: tuple[int, ...] = ()


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


class RoundBegan(Event, frozen=True):
    """The stakes lie and the seeds are final: the deal follows."""

    game: int
    round: int


class Played(Event, Generic[GameEvent], frozen=True):
    """Something of the game itself: `event` is the game's own. Its stored kind is the game event's kind.

    `by` says who decided: a player, the clock (the fallback), a bot, or the table (deals, automatic plays).
    """

    seat: int | None
    by: By
    event: GameEvent
    id: str | None = None
    digest: int = 0


class SeedsShown(Event, frozen=True):
    """The chance of a finished round, for everybody to check; `bag_seed` when its bag is empty."""

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


class PlayerWentOffline(Event, frozen=True):
    """A connection has been lost for longer than the grace (TL-42)."""

    seat: int


class PlayerCameBack(Event, frozen=True):
    """Connected again, or acted again: the seat is its player's."""

    seat: int
    id: str | None = None
    digest: int = 0


class PlayerLeft(Event, frozen=True):
    """Leave was pressed while a round runs or stakes are asked: the seat is freed at its end (TL-29, TL-14)."""

    seat: int
    id: str | None = None
    digest: int = 0


class BotTookOver(Event, frozen=True):
    """Five expiries in a row: a bot plays until the player acts (TL-16)."""

    seat: int


class GameEnded(Event, frozen=True):
    """A game is over. One place a seat; the names stand in the results."""

    game: int
    places: tuple[int, ...]
    totals: tuple[int, ...]
    names: tuple[str, ...]


class TableClosed(Event, frozen=True):
    """The table is over."""

    reason: Literal["empty"]


OWN: tuple[type[Event], ...] = (
    TableCreated,
    SeatTaken,
    SeatFreed,
    BotSeated,
    BotSentAway,
    HostChanged,
    StartAsked,
    DealAsked,
    SeatReady,
    BagOpened,
    CountInStarted,
    CountInStopped,
    SeedCommitted,
    SeedsAsked,
    SeedOpened,
    StakesAsked,
    StakesGranted,
    StakesRefused,
    GameStarted,
    RoundBegan,
    SeedsShown,
    SettleAsked,
    Settled,
    RefundAsked,
    Refunded,
    PlayerWentOffline,
    PlayerCameBack,
    PlayerLeft,
    BotTookOver,
    GameEnded,
    TableClosed,
)


def snake_case(name: str) -> str:
    """CountInStarted -> count_in_started."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


KIND_OF: Mapping[type[Event], str] = {event: snake_case(event.__name__) for event in OWN}
