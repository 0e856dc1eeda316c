"""Given-when-then for tables: open one, tell it things, play it through. Open this to write a test of a table."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from darbar_contracts import frames
from darbar_contracts.tables import CreateTable, Person, TableTerms
from darbar_contracts.wallet import WalletAnswer
from darbar_rules.game import AnyGame
from darbar_rules.games import BY_NAME
from darbar_table.domain import decide, events
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
from darbar_table.domain.timers import CountInTimer, TurnTimer
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


class Script:
    """A table in memory and everything that happened to it; nothing here is stored."""

    def __init__(self, table_id: str = TABLE_ID, *, rules: AnyGame = COURT_PIECE, **options: Any) -> None:
        seeds = itertools.count(1)
        self.now = datetime(2026, 11, 29, 12, tzinfo=UTC)
        self.context = Context(settings=SETTINGS, fresh_seed=lambda: f"{next(seeds):064x}", now=lambda: self.now)
        self._ids = itertools.count(1)
        chosen = rules.options_type(**options)
        seats = rules.seat_counts(chosen)[0]
        request = CreateTable(table_id, TableTerms(rules.name, options, seats, 100, 10, "public", "normal"), host=ANN)
        self.table: Table = unopened(str(UUID(table_id)), rules)
        self.log: list[tuple[Table, events.TableEvent, Table]] = []
        self.tell(Create(request, RICH))

    def tell(self, command: Command) -> Draft:
        """Decide and accept; refusals are raised and change nothing."""
        draft = decide.decide(self.table, command, self.context)
        before = self.table
        for event, after in zip(draft.events, draft.states, strict=True):
            self.log.append((before, event, after))
            before = after
        self.table = draft.table
        return draft

    def new_id(self) -> str:
        return f"command-{next(self._ids):010d}"

    def act(self, person: Person, frame: Any, *, balance: int = RICH, decision: Any = None) -> Draft:
        """A player's frame."""
        if decision is None:
            return self.tell(Act(person=person, frame=frame, digest=1, balance_coins=balance))
        kind = frame.__struct_config__.tag
        return self.tell(Decide(person, frame.id, 1, frame.round, frame.turn, kind, decision))

    def sit(self, *people: Person) -> Script:
        for person in people:
            self.act(person, frames.Sit(id=self.new_id()))
        return self

    def zero(self) -> Script:
        """The count-in has run."""
        self.tell(TimerRang(CountInTimer(self.table.round, self.table.attempt)))
        return self

    def wallet(self, *, done: bool = True, reason: str | None = None, short: tuple[str, ...] = ()) -> Script:
        """The wallet answers what was asked."""
        assert self.table.asked is not None
        answer = WalletAnswer(done=done, reason=reason, short=short)
        self.tell(WalletAnswered(key=self.table.asked.key, answer=answer))
        return self

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

    def kinds(self) -> list[str]:
        """The kinds of all events so far, as stored."""
        return [
            self.table.rules.kind_of(event.event) if isinstance(event, events.Played) else events.KIND_OF[type(event)]
            for _, event, _ in self.log
        ]
