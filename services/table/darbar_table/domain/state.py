"""What a table is at one version. States are immutable; open this to see what is remembered."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from darbar_contracts.frames import VoteAbout, VoteView
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


class Seat(msgspec.Struct, frozen=True, gc=False):
    """One seat: free, a bot's, or a player's.

    `online` False: the player is away (TL-29). `left`: Leave was pressed in this round. `idle`: connected, and never
    acting. `bot_plays`: after five `expiries` in a row (TL-16); `bot_rounds`: so many rounds began like that. `since`:
    the version at which the holder sat down. `bot_barred`: only a vote brings a bot here (TL-27). `emptied_by`: the
    account that left the seat, or sent its bot away, in this game.
    """

    player: Person | None = None
    bot: str | None = None
    online: bool = False
    left: bool = False
    idle: bool = False
    bot_plays: bool = False
    expiries: int = 0
    bot_rounds: int = 0
    since: int = 0
    bot_barred: bool = False
    emptied_by: str | None = None

    @property
    def free(self) -> bool:
        return self.player is None and self.bot is None

    @property
    def away(self) -> bool:
        """Held by a player who is not here: a bot plays, and a round's end pays nothing (TL-30)."""
        return self.player is not None and (not self.online or self.left or self.idle)

    @property
    def played_by_bot(self) -> bool:
        """Whether a bot decides for this seat at once (TL-17)."""
        return self.bot is not None or self.away or self.bot_plays


class Bag(msgspec.Struct, frozen=True, gc=False):
    """The seven filter flags of CP-7: which bag, its seed, and how many of its flags are used."""

    number: int
    seed: str
    flags: tuple[bool, ...]
    used: int = 0

    @property
    def empty(self) -> bool:
        return self.used >= len(self.flags)


class CountIn(msgspec.Struct, frozen=True, gc=False):
    """From the start of a count-in until the deal: its seed, who wants it to end, and what clients add to the chance.

    `committed` has the sha256 and `strings` the text of each seat that has sent one.
    """

    server_seed: str
    start_asked: bool = False
    deal_asked: bool = False
    ready: tuple[int, ...] = ()
    committed: dict[int, str] = {}
    strings: dict[int, str] = {}

    @property
    def unopened(self) -> tuple[int, ...]:
        """Seats that committed and have not opened."""
        return tuple(sorted(self.committed.keys() - self.strings.keys()))


class Round(msgspec.Struct, frozen=True, gc=False):
    """A round from its deal until its seeds are shown."""

    server_seed: str
    strings: dict[int, str]
    left_out: tuple[int, ...]
    filtered: bool
    chance: Chance


class Staking(msgspec.Struct, frozen=True, gc=False):
    """A stake unit from the first question to the wallet until its pot is shared or given back.

    `key` is the stake's; `asked` is what the wallet is asked just now. `stakers`: who paid for each seat (None: the
    bots' account), empty before it is granted; `given_up`: those of them who have their bet back in the end (TL-37).
    """

    key: str
    unit: str
    asked: StakesAsked | SettleAsked | RefundAsked | None
    granted: bool = False
    stakers: tuple[str | None, ...] = ()
    given_up: tuple[str, ...] = ()


class Stopper(msgspec.Struct, frozen=True, gc=False):
    """An account that has stopped so many count-ins since the last deal, and until when it may not sit down here."""

    account_id: str
    count: int
    paused_until: datetime | None = None


class PastVote(msgspec.Struct, frozen=True, gc=False):
    """Who asked for what and when, and until when it is not asked again."""

    account_id: str
    about: VoteAbout
    about_seat: int | None
    at: datetime
    paused_until: datetime | None = None


class SentAway(msgspec.Struct, frozen=True, gc=False):
    """An account that the host has sent away, and until when it may not sit down here (TL-8)."""

    account_id: str
    until: datetime


class Table(msgspec.Struct, frozen=True, gc=False):
    """A table at one version. `rules` is its game, `state` the game's own state; None between games. `options`
    are those of its terms, as its rules take them.

    `game` and `round` count from 1; `attempt` counts the count-ins of a round. `milestones` numbers the last one.
    `shared`: two people have held seats at the same time in this game; `counted`: so it was at a deal of it (TL-28).
    `count_in`, `running`, `staking` and `vote` are there while there is such a thing. `past_votes`: the last ones, the
    running one too. `ending`: the game ends as soon as its coins are back (TL-39).
    """

    table_id: str
    version: int
    rules: AnyGame
    terms: TableTerms
    options: Any = None
    host: int = 0
    seats: tuple[Seat, ...] = ()
    phase: Phase = Phase.WAITING
    game: int = 1
    round: int = 0
    attempt: int = 0
    state: Any = None
    shared: bool = False
    counted: bool = False
    bag: Bag | None = None
    count_in: CountIn | None = None
    running: Round | None = None
    staking: Staking | None = None
    stoppers: tuple[Stopper, ...] = ()
    sent_away: tuple[SentAway, ...] = ()
    vote: VoteView | None = None
    past_votes: tuple[PastVote, ...] = ()
    ending: bool = False
    voided: bool = False
    milestones: int = 0

    def seat_of(self, account_id: str) -> int | None:
        """Where an account sits."""
        for number, seat in enumerate(self.seats):
            if seat.player is not None and seat.player.account_id == account_id:
                return number
        return None

    def sent_away_until(self, account_id: str) -> datetime | None:
        """When an account that was sent away may come back; None for all others."""
        return max((one.until for one in self.sent_away if one.account_id == account_id), default=None)

    @property
    def full(self) -> bool:
        return not any(seat.free for seat in self.seats)

    @property
    def people(self) -> tuple[int, ...]:
        return tuple(number for number, seat in enumerate(self.seats) if seat.player is not None)

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """Who holds each seat; None where nobody does, or a bot."""
        return tuple(seat.player.account_id if seat.player is not None else None for seat in self.seats)

    @property
    def started(self) -> bool:
        """Whether a game is under way."""
        return self.state is not None

    @property
    def staked(self) -> bool:
        """Whether a stake unit has been paid for and is not yet shared out."""
        return self.staking is not None and self.staking.granted

    @property
    def asked(self) -> StakesAsked | SettleAsked | RefundAsked | None:
        """What the wallet is asked just now."""
        return None if self.staking is None else self.staking.asked

    def with_seat(self, number: int, seat: Seat) -> tuple[Seat, ...]:
        """The seats with one of them changed."""
        return (*self.seats[:number], seat, *self.seats[number + 1 :])


def unopened(table_id: str, rules: AnyGame) -> Table:
    """The state before the first event: nobody sits there, and nothing is agreed but the game."""
    terms = TableTerms(rules.name, {}, 0, 0, 0, "private", "normal")
    return Table(table_id=table_id, version=0, rules=rules, terms=terms)
