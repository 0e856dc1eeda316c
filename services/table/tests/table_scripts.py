"""Given-when-then for tables: open one, tell it things, play it through. Open this to write a test of a table."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from darbar_contracts import frames
from darbar_contracts.tables import CreateTable, Person, TableTerms, Visibility
from darbar_contracts.wallet import WalletAnswer
from darbar_rules.game import AnyGame, RoundResult, Turn
from darbar_rules.games import BY_NAME
from darbar_table.domain import decide, events, timers
from darbar_table.domain.commands import (
    Act,
    Command,
    Connected,
    Context,
    Create,
    Decide,
    Disconnected,
    Draft,
    TimerRang,
    WalletAnswered,
)
from darbar_table.domain.state import Phase, Table, unopened
from darbar_table.domain.timers import CountInTimer, SeedsTimer, TurnTimer, VoteTimer
from darbar_table.settings import Settings

TABLE_ID = "00000000-0000-4000-8000-000000000001"
ANN = Person("ann", "Ann", "fox")
BOB = Person("bob", "Bob", "owl")
CYN = Person("cyn", "Cyn", "cat")
DAN = Person("dan", "Dan", "elk")
EVE = Person("eve", "Eve", "bee")
PEOPLE = (ANN, BOB, CYN, DAN)
RICH = 5000
SETTINGS = Settings(database_url="", nats_url="", token_public_key="")
COURT_PIECE = BY_NAME["court_piece"]


EventKind = TypeVar("EventKind", bound=events.Event)


class Script:
    """A table in memory and everything that happened to it; nothing here is stored."""

    def __init__(
        self,
        table_id: str = TABLE_ID,
        *,
        rules: AnyGame = COURT_PIECE,
        visibility: Visibility = "public",
        **options: Any,
    ) -> None:
        seeds = itertools.count(1)
        self.now = datetime(2026, 11, 29, 12, tzinfo=UTC)
        self.context = Context(settings=SETTINGS, fresh_seed=lambda: f"{next(seeds):064x}", now=lambda: self.now)
        self._ids = itertools.count(1)
        chosen = rules.options_type(**options)
        seats = rules.seat_counts(chosen)[0]
        request = CreateTable(table_id, TableTerms(rules.name, options, seats, 100, 10, visibility, "normal"), host=ANN)
        self.table: Table = unopened(str(UUID(table_id)), rules)
        self.log: list[tuple[Table, events.TableEvent, Table]] = []
        self.at_rest: set[int] = set()  # The versions after which nothing follows by itself: what a snapshot can be of.
        self.tell(Create(request, RICH))

    def tell(self, command: Command) -> Draft:
        """Decide and accept; refusals are raised and change nothing."""
        draft = decide.decide(self.table, command, self.context)
        before = self.table
        for event, after in zip(draft.events, draft.states, strict=True):
            self.log.append((before, event, after))
            before = after
        self.table = draft.table
        self.at_rest.add(self.table.version)
        return draft

    def new_id(self) -> str:
        return f"command-{next(self._ids):010d}"

    def act(self, person: Person, frame: Any, *, balance: int = RICH, decision: Any = None) -> Draft:
        """A player's frame."""
        if decision is None:
            return self.tell(Act(person=person, frame=frame, digest=1, balance_coins=balance))
        kind = frame.__struct_config__.tag
        return self.tell(Decide(person, frame.id, 1, frame.round, frame.turn, kind, decision, frame.game))

    def sit(self, *people: Person) -> Script:
        for person in people:
            self.act(person, frames.Sit(id=self.new_id()))
        return self

    def zero(self) -> Script:
        """The count-in has run."""
        self.tell(TimerRang(CountInTimer(self.table.round, self.table.attempt)))
        return self

    def tell_seeds_are_late(self) -> Script:
        """The time for opening strings is over."""
        self.tell(TimerRang(SeedsTimer(self.table.round, self.table.attempt)))
        return self

    def wallet(self, *, done: bool = True, reason: str | None = None, short: tuple[str, ...] = ()) -> Script:
        """The wallet answers what was asked."""
        assert self.table.asked is not None
        answer = WalletAnswer(done=done, reason=reason, short=short)
        self.tell(WalletAnswered(key=self.table.asked.key, answer=answer))
        return self

    def tell_wallet(self, key: str, *, done: bool) -> Draft:
        """An answer of the wallet, maybe to what the table does not ask any more."""
        return self.tell(WalletAnswered(key=key, answer=WalletAnswer(done=done)))

    def dealt(self) -> Script:
        """Four people, the first deal."""
        return self.sit(BOB, CYN, DAN).zero().wallet()

    def time_up(self) -> Script:
        """The turn clock has run; the fallback decides."""
        self.time_up_draft()
        return self

    def time_up_draft(self) -> Draft:
        turn = self.table.rules.turn(self.table.state)
        return self.tell(TimerRang(TurnTimer(turn.round, turn.turn)))

    def offline(self, person: Person) -> Script:
        self.tell(Disconnected(account_id=person.account_id))
        return self

    def back(self, person: Person) -> Script:
        self.tell(Connected(account_id=person.account_id))
        return self

    def play_round(self) -> Script:
        """Fallbacks until the round is over."""
        while self.table.phase is Phase.PLAYING:
            self.time_up()
        return self

    def play_blindly(self, dice: random.Random) -> Script:
        """Any decision that is allowed, by the players themselves, until the round is over."""
        while self.table.phase is Phase.PLAYING:
            self.plays(self.turn.seats[0], dice)
        return self

    def play_game(self) -> Script:
        """Fallbacks until the game is over; whoever has gone idle meanwhile says that they are back."""
        game = self.table.game
        while self.table.game == game:
            self.step()
        return self

    def step(self) -> Script:
        """On to the next phase."""
        match self.table.phase:
            case Phase.COUNTING_IN:
                self.zero()
            case Phase.PLAYING:
                self.play_round()
            case Phase.WAITING:
                idle = [seat.player for seat in self.table.seats if seat.player is not None and seat.idle]
                assert idle, "the table waits for nobody in a script"
                for person in idle:
                    self.act(person, frames.ImBack(id=self.new_id()))
            case _:
                self.wallet()
        return self

    def last(self, kind: type[EventKind]) -> EventKind:
        """The newest event of a kind."""
        return next(event for _, event, _ in reversed(self.log) if isinstance(event, kind))

    def all(self, kind: type[EventKind]) -> list[EventKind]:
        return [event for _, event, _ in self.log if isinstance(event, kind)]

    def person(self, seat: int) -> Person:
        """The player in a seat."""
        player = self.table.seats[seat].player
        assert player is not None
        return player

    @property
    def phase(self) -> Phase:
        return self.table.phase

    @property
    def turn(self) -> Turn:
        return self.table.rules.turn(self.table.state)

    @property
    def result(self) -> RoundResult:
        """The round that has just ended."""
        result: RoundResult | None = self.table.rules.result(self.table.state)
        assert result is not None
        return result

    def starts_now(self, person: Person) -> Script:
        self.act(person, frames.StartNow(id=self.new_id()))
        return self

    def leaves(self, *people: Person) -> Script:
        for person in people:
            self.act(person, frames.Leave(id=self.new_id()))
        return self

    def is_back(self, person: Person) -> Script:
        self.act(person, frames.ImBack(id=self.new_id()))
        return self

    def asks(self, person: Person, about: frames.VoteAbout, seat: int | None = None) -> Script:
        self.act(person, frames.AskVote(id=self.new_id(), about=about, seat=seat))
        return self

    def agrees(self, *people: Person) -> Script:
        for person in people:
            self.answers(person, agree=True)
        return self

    def answers(self, person: Person, *, agree: bool) -> Draft:
        """To the vote that runs."""
        assert self.table.vote is not None
        return self.act(person, frames.AnswerVote(id=self.new_id(), vote=self.table.vote.number, agree=agree))

    def silence(self) -> Script:
        """The time for answers is over."""
        assert self.table.vote is not None
        self.rings(VoteTimer(self.table.vote.number))
        return self

    @property
    def outcome(self) -> tuple[bool, str]:
        """How the last vote ended: whether it was agreed, and why."""
        ended = self.last(events.VoteEnded)
        return ended.agreed, ended.reason

    def due(self) -> dict[timers.Timer, float]:
        return timers.due(self.table, SETTINGS)

    def rings(self, timer: timers.Timer) -> Draft:
        return self.tell(TimerRang(timer))

    def plays(self, seat: int, dice: random.Random | None = None) -> Draft:
        """The seat's first choice, or any, said by its player."""
        rules, turn = self.table.rules, self.turn
        choices = rules.choices(rules.legal(self.table.state, seat))
        decision = choices[0] if dice is None else dice.choice(choices)
        kind = next(kind for kind, made in rules.decisions.items() if type(decision) is made)
        return self.tell(Decide(self.person(seat), self.new_id(), 1, turn.round, turn.turn, kind, decision))

    def kinds(self) -> list[str]:
        """The kinds of all events so far, as stored."""
        return [
            self.table.rules.kind_of(event.event) if isinstance(event, events.Played) else events.KIND_OF[type(event)]
            for _, event, _ in self.log
        ]
