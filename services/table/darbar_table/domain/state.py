"""What a table is at one version. States are immutable; open this to see what is remembered."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from darbar_contracts.tables import Person, TableTerms
from darbar_rules.deal import Chance
from darbar_rules.game import AnyGame
from darbar_table.domain.events import RefundAsked, SettleAsked, StakesAsked


class Phase(StrEnum):
    """Where a table is between cards. Sent to clients: add one, never rename one."""

    WAITING = "waiting"
    COUNTING_IN = "counting_in"
    OPENING_SEEDS = "opening_seeds"
    STAKING = "staking"
    PLAYING = "playing"
    SETTLING = "settling"
    REFUNDING = "refunding"
    CLOSED = "closed"


class Seat(msgspec.Struct, frozen=True):
    """One seat: free, a bot's, or a player's.

    `online` False: the player is away (TL-29). `left`: Leave was pressed in this round. `bot_plays`: after five
    expiries (TL-16). `expiries`: in a row. `since`: the version at which the holder sat down. `bot_barred`: only a
    vote brings a bot here (TL-27).
    """

    player: Person | None = None
    bot: str | None = None
    online: bool = False
    left: bool = False
    bot_plays: bool = False
    expiries: int = 0
    since: int = 0
    bot_barred: bool = False
    ready: bool = False
    committed: str | None = None
    string: str | None = None

    @property
    def free(self) -> bool:
        return self.player is None and self.bot is None

    @property
    def away(self) -> bool:
        """Held by a player who is not here: a bot plays, and a round's end pays nothing (TL-30)."""
        return self.player is not None and (not self.online or self.left)

    @property
    def played_by_bot(self) -> bool:
        """Whether a bot decides for this seat at once (TL-17)."""
        return self.bot is not None or self.away or self.bot_plays


class Bag(msgspec.Struct, frozen=True):
    """The seven filter flags of CP-7: which bag, its seed, and how many of its flags are used."""

    number: int
    seed: str
    flags: tuple[bool, ...]
    used: int = 0

    @property
    def empty(self) -> bool:
        return self.used >= len(self.flags)


def unopened(table_id: str, rules: AnyGame) -> Table:
    """The state before the first event: nobody sits there, and nothing is agreed but the game."""
    terms = TableTerms(rules.name, {}, 0, 0, 0, "private", "normal")
    return Table(table_id=table_id, version=0, rules=rules, terms=terms)


class Table(msgspec.Struct, frozen=True):
    """A table at one version. `rules` is its game, `state` the game's own state; None between games. `options`
    are those of its terms, as its rules take them.

    `game` and `round` count from 1; `attempt` counts the count-ins of a round. `stake_key` is the stake that was
    granted for the running unit, `asked` what the wallet is asked just now. `milestones` numbers the last one.
    `started`: a game is under way; `counted`: two people have held seats at a deal of it (TL-28).
    """

    table_id: str
    version: int
    rules: AnyGame
    terms: TableTerms
    options: Any = None
    host: int = 0
    seats: tuple[Seat, ...] = ()
    phase: Phase = Phase.WAITING
    started: bool = False
    counted: bool = False
    game: int = 1
    round: int = 0
    attempt: int = 0
    state: Any = None
    server_seed: str = ""
    chance: Chance | None = None
    filtered: bool = False
    bag: Bag | None = None
    left_out: tuple[int, ...] = ()
    stake_key: str | None = None
    asked: StakesAsked | SettleAsked | RefundAsked | None = None
    milestones: int = 0
    start_asked: bool = False
    deal_asked: bool = False

    def seat_of(self, account_id: str) -> int | None:
        """Where an account sits."""
        for number, seat in enumerate(self.seats):
            if seat.player is not None and seat.player.account_id == account_id:
                return number
        return None

    @property
    def full(self) -> bool:
        return not any(seat.free for seat in self.seats)

    @property
    def people(self) -> tuple[int, ...]:
        return tuple(number for number, seat in enumerate(self.seats) if seat.player is not None)

    @property
    def unit(self) -> str:
        """The name of the running stake unit, as the wallet knows it."""
        return f"g{self.game}" if self.rules.stake_unit == "game" else f"g{self.game}.r{self.round}"

    @property
    def staked(self) -> bool:
        """Whether a stake unit has begun and is not yet shared out."""
        return self.stake_key is not None

    def with_seat(self, number: int, **changes: Any) -> tuple[Seat, ...]:
        """The seats with one of them changed."""
        seats = list(self.seats)
        seats[number] = msgspec.structs.replace(seats[number], **changes)
        return tuple(seats)
