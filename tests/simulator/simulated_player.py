"""A player with a client that loses its connection, repeats itself, and writes down every answer.

Open this about what a client does. It knows of a table what `darbar_client` makes of the frames that it is sent.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from darbar_client.table_changes import after_event
from darbar_contracts import frames
from darbar_contracts.frames import (
    AnyServerFrame,
    Closing,
    Done,
    EventFrame,
    Frame,
    Heartbeat,
    RefusedFrame,
    Snapshot,
    TableReason,
    TableView,
    Welcome,
)
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.tables import Person
from darbar_rules.game import Legal

if TYPE_CHECKING:
    from socket_double import SocketDouble
    from table_company import Company

AGAIN_SECONDS = 0.1
# Who has no answer for so long tries elsewhere.
ANSWER_SECONDS_MAX = 4.0
IN_A_ROUND = frozenset(("staking", "playing", "settling", "refunding"))
# After these the table is over for this player.
OVER = frozenset((TableReason.TABLE_CLOSED, TableReason.TABLE_UNKNOWN))
DECISIONS = DecisionFrames()
_decode = msgspec.json.Decoder(AnyServerFrame).decode


class Answer(NamedTuple):
    """An acknowledgement, as the player wrote it down."""

    account_id: str
    command: Frame
    version: int


class SeenFrame(NamedTuple):
    """An event's frame as it arrived, and for which seat."""

    account_id: str
    seat: int | None
    version: int
    frame: bytes
    was_stored: bool


@dataclass
class Notebook:
    """What all players together have written down."""

    answers: list[Answer] = field(default_factory=list)
    refused: list[tuple[str, Frame, str]] = field(default_factory=list)
    seen: list[SeenFrame] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class SimulatedPlayer:
    """`rounds` is after how many rounds it leaves (0: after the game)."""

    def __init__(self, company: Company, person: Person, dice: random.Random, *, bots: int, rounds: int) -> None:
        self.company = company
        self.person = person
        self.dice = dice
        self.bots = bots
        self.rounds = rounds
        self.socket: SocketDouble | None = None
        self.is_done = False
        self.think_seconds = 0.02
        self.repeats = 0.0
        self.ends_after: int | None = None  # how many of its own decisions
        self._version = 0
        self._welcomed: int | None = None
        self._seat: int | None = None
        self._table: TableView | None = None
        self._legal: Legal | None = None
        self._round = self._turn = 0
        self._rounds_over = 0
        self._is_game_over = False
        self._pending: Frame | None = None
        self._said_at = 0.0
        self._string = ""
        self._intends = False
        self._is_to_say_again = False

    def connect(self, process_id: str | None = None) -> None:
        """To the process that was named, or to any."""
        if self.is_done:
            return
        self.socket = None
        self._welcomed = None
        socket = self.company.open_socket(self, process_id)
        if socket is None:
            self._later(AGAIN_SECONDS * (1 + self.dice.random()), self._connect_again)
            return
        self.socket = socket
        socket.hello(self._version)
        self._expect_answer(socket)

    def lose(self) -> None:
        """The line is cut: both sides notice."""
        socket, self.socket = self.socket, None
        if socket is not None:
            socket.leave()
        self._later(AGAIN_SECONDS * self.dice.random(), self._connect_again)

    def lost(self, socket: SocketDouble) -> None:
        """The other side is gone."""
        if self.socket is socket:
            self.socket = None
            self._later(AGAIN_SECONDS * self.dice.random(), self._connect_again)

    def hear(self, socket: SocketDouble, content: bytes) -> None:
        """One frame."""
        if socket is not self.socket:
            return
        frame = _decode(content)
        match frame:
            case EventFrame():
                self._event(frame, content)
            case Snapshot():
                self._snapshot(frame)
            case Welcome():
                self._welcomed, self._seat = frame.version, frame.seat
            case Done():
                self._answered(frame.id, frame.version)
            case RefusedFrame():
                self._refused(frame)
            case Heartbeat():
                if self._is_caught_up and frame.version > self._version:
                    self.lose()
            case Closing():
                self._closed(frame)
        if self._is_caught_up:
            if self._pending is not None and isinstance(frame, Welcome | Snapshot | EventFrame):
                self._say_again_once(socket)
            self._consider()

    @property
    def _is_caught_up(self) -> bool:
        return self._welcomed is not None and self._version >= self._welcomed and self.socket is not None

    # What it hears.

    def _event(self, frame: EventFrame, content: bytes) -> None:
        notebook = self.company.notebook
        if frame.version != self._version + 1:
            notebook.faults.append(f"{self.person.account_id} has {self._version} and is sent {frame.version}")
        self._version = frame.version
        stored = self.company.is_stored(frame.version)
        if self._table is not None:
            self._table = after_event(self._table, frame)
        if frame.kind == "seat_taken" and frame.id is not None:
            self._seat = frame.public["seat"]
        notebook.seen.append(SeenFrame(self.person.account_id, self._seat, frame.version, content, stored))
        self._follow(frame)
        if frame.id is not None:
            self._answered(frame.id, frame.version)

    def _follow(self, frame: EventFrame) -> None:
        public = frame.public
        self._legal = frame.legal
        self._round, self._turn = public.get("round", self._round), public.get("turn", self._turn)
        match frame.kind:
            case "seat_freed":
                if public["seat"] == self._seat:
                    self._seat = None
            case "seats_swapped":
                if self._seat in public["seats"]:
                    (self._seat,) = (seat for seat in public["seats"] if seat != self._seat)
            case "seeds_shown":
                self._rounds_over += 1
            case "count_in_started":
                self._rounds_over = max(self._rounds_over, public["round"] - 1)
            case "game_ended":
                self._is_game_over = True

    def _snapshot(self, frame: Snapshot) -> None:
        self._version, self._seat, self._table, self._legal = frame.version, frame.seat, frame.table, frame.legal
        game = frame.game or {}
        self._round, self._turn = game.get("round", self._round), game.get("turn", self._turn)
        self._is_game_over = self._is_game_over or frame.table.game_number > 1
        self._rounds_over = max(self._rounds_over, frame.table.round - 1, int(self._is_game_over))

    def _answered(self, command_id: str, version: int) -> None:
        pending = self._pending
        if pending is None or getattr(pending, "id") != command_id:  # noqa: B009
            return
        self.company.notebook.answers.append(Answer(self.person.account_id, pending, version))
        self._pending = None

    def _refused(self, frame: RefusedFrame) -> None:
        pending = self._pending
        if pending is None or getattr(pending, "id") != frame.id:  # noqa: B009
            return
        if frame.retry:
            if not self._is_to_say_again:
                self._is_to_say_again = True
                self._later(AGAIN_SECONDS * (1 + self.dice.random()), self._say_again)
            return
        self.company.notebook.refused.append((self.person.account_id, pending, frame.code))
        self._pending = None
        if frame.code in OVER:
            self._end()

    def _closed(self, frame: Closing) -> None:
        if frame.code in OVER and self.company.is_created:
            self._end()
            return
        self.socket = None
        path = frame.path.split("/") if frame.path else []
        self._later(AGAIN_SECONDS * self.dice.random(), self.connect, path[3] if len(path) > 3 else None)

    def _end(self) -> None:
        self.is_done = True
        self.socket = None

    # What it does.

    def _consider(self) -> None:
        """In a moment, if nothing is under way."""
        if self._pending is None and not self._intends and not self.is_done:
            self._intends = True
            self._later(self.think_seconds * (0.5 + self.dice.random()), self._act)

    def _act(self) -> None:
        self._intends = False
        if self._pending is not None or not self._is_caught_up:
            return
        frame = self._next_command()
        if frame is not None:
            self._pending = frame
            self._say(frame)

    def _next_command(self) -> Frame | None:
        table = self._table
        if table is None:
            return None
        has_seen_enough = self._rounds_over >= self.rounds or (table.started and table.phase == "waiting")
        wants_to_leave = self._is_game_over or (self.rounds > 0 and has_seen_enough)
        if self._seat is None:
            if wants_to_leave:
                self._end_looking_on()
                return None
            return frames.Sit(self._new_id())
        if wants_to_leave:
            is_leaving = table.seats[self._seat].away and table.phase in IN_A_ROUND
            return None if is_leaving else frames.Leave(self._new_id())
        vote = table.vote
        if vote is not None and self._seat in vote.waits_for:
            return frames.AnswerVote(self._new_id(), vote.number, agree=True)
        if table.phase == "playing":
            return self._decision(table)
        return self._around_the_cards(table)

    def _around_the_cards(self, table: TableView) -> Frame | None:
        assert self._seat is not None
        own = table.seats[self._seat]
        if table.phase == "opening_seeds" and self._string:
            string, self._string = self._string, ""
            return frames.SeedOpen(self._new_id(), string)
        if table.phase == "counting_in" and not own.committed and self.dice.random() < 0.3:
            self._string = f"string {self.dice.random()}"
            return frames.SeedCommit(self._new_id(), hashlib.sha256(self._string.encode()).hexdigest())
        if table.phase == "counting_in" and not own.ready and self.dice.random() < 0.5:
            return frames.Ready(self._new_id())
        if table.phase == "waiting" and table.host == self._seat and not table.started:
            free = sum(seat.kind == "free" for seat in table.seats)
            if 0 < free <= self.bots:
                return frames.StartNow(self._new_id())
        return None

    def _decision(self, table: TableView) -> Frame | None:
        legal = self._legal
        if legal is None or not (legal.play or legal.name):
            return None
        if self.ends_after is not None and table.vote is None and len(table.people) > 1:
            self.ends_after -= 1
            if self.ends_after == 0:
                return frames.AskVote(self._new_id(), "end_game")
        rules = self.company.rules
        choices = rules.choices(legal)
        plain = choices[: len(choices) - len(legal.also)] or choices
        decision: Any = self.dice.choice(choices if self.dice.random() < 0.1 else plain)
        return DECISIONS.frame_of(
            decision, id=self._new_id(), game=table.game_number, round=self._round, turn=self._turn
        )

    def _end_looking_on(self) -> None:
        socket = self.socket
        self._end()
        if socket is not None:
            socket.leave()

    def _say(self, frame: Frame) -> None:
        socket = self.socket
        if socket is None:
            return
        self._said_at = self.company.loop.now
        socket.tell(frame)
        if self.repeats and self.dice.random() < self.repeats:
            socket.tell(frame)
        self._later(ANSWER_SECONDS_MAX, self._try_elsewhere, frame)

    def _say_again(self) -> None:
        self._is_to_say_again = False
        if self._pending is not None and self._is_caught_up:
            self._say(self._pending)

    def _say_again_once(self, socket: SocketDouble) -> None:
        """What has no answer is said again on every new socket."""
        if not socket.is_told:
            socket.is_told = True
            assert self._pending is not None
            self._say(self._pending)

    def _try_elsewhere(self, frame: Frame) -> None:
        if self._pending is frame and self.company.loop.now - self._said_at >= ANSWER_SECONDS_MAX - 0.001:
            self.lose()

    def _expect_answer(self, socket: SocketDouble) -> None:
        def look() -> None:
            if self.socket is socket and self._welcomed is None:
                self.lose()

        self._later(12.0, look)

    def _connect_again(self) -> None:
        if self.socket is None:
            self.connect()

    def _new_id(self) -> str:
        return f"{self.dice.getrandbits(96):024x}"

    def _later(self, seconds: float, act: Any, *what: Any) -> None:
        loop = self.company.loop
        loop.call_in(self.company.clients, loop.now + seconds, act, *what)
