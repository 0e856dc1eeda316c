"""A table as one player sees and plays it. Open this first: it is what bots, tools and tests talk to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TypeVar

import msgspec

from darbar_client.backoff import Backoff
from darbar_client.commands import Commands, new_command_id
from darbar_client.connection import ConnectionLost
from darbar_client.errors import CommandRefused, DarbarError, SocketEnded
from darbar_client.event_stream import EventStream
from darbar_client.fairness import SeedStrings
from darbar_client.heard import Heard
from darbar_client.http import Http
from darbar_client.reconnecting import ReconnectingSocket
from darbar_client.table_changes import after_event
from darbar_client.tokens import Tokens
from darbar_contracts import frames
from darbar_contracts.api import SocketPaths, TableRef
from darbar_contracts.frames import (
    AnyServerFrame,
    Closing,
    Done,
    EventFrame,
    Heartbeat,
    RefusedFrame,
    Snapshot,
    TableView,
    Welcome,
)
from darbar_contracts.reading import DecisionFrames
from darbar_contracts.refusals import Reason
from darbar_rules.game import AnyGame, Legal
from darbar_rules.games import BY_NAME

_Value = TypeVar("_Value")


class TableSocket:
    """The socket of one player at one table: it comes back by itself, and nothing is lost or done twice.

    Commands return the version at which they stand and raise CommandRefused. Read `events()` with one reader.
    """

    def __init__(
        self,
        ref: TableRef,
        *,
        http: Http,
        tokens: Tokens,
        find: Callable[[], Awaitable[SocketPaths]],
        decisions: DecisionFrames,
        decoder: msgspec.json.Decoder[AnyServerFrame],
        backoff: Backoff,
        fair: bool,
        events_unread_max: int,
    ) -> None:
        self.table_id = ref.table_id
        self.version = self.round = self.turn = 0
        self.connections = 0  # so many there have been, one after another
        self.seat: int | None = None
        self.snapshot: Snapshot | None = None
        self.legal: Legal | None = None
        self.failure: DarbarError | None = None
        self.heard = Heard()
        self._now: TableView | None = None
        self._deadline: float | None = None
        self._vote_deadline = 0.0
        self._welcome: Welcome | None = None
        self._decisions = decisions
        self._backoff = backoff
        self._stream = EventStream(events_unread_max)
        self._refreshes: list[asyncio.Future[Snapshot]] = []
        self._changed: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._socket = ReconnectingSocket(
            http, tokens, ref.socket, find=find, listener=self, backoff=backoff, decoder=decoder
        )
        self._commands = Commands(self._post, backoff)
        self._strings = SeedStrings(self._commands.start) if fair else None

    # What is known.

    @property
    def now(self) -> TableView:
        """The table around the cards."""
        assert self._now is not None, "join() waits for the first snapshot"
        return self._now

    @property
    def game(self) -> AnyGame:
        """The rules of this table."""
        return BY_NAME[self.now.terms.game]

    @property
    def view(self) -> object:
        """The game's view of this seat in the newest snapshot, None between games; `refresh()` brings a newer one."""
        view = None if self.snapshot is None else self.snapshot.game
        return None if view is None else msgspec.convert(view, self.game.view_type)

    @property
    def caught_up(self) -> bool:
        """Whether everything up to the table's welcome is here."""
        return self._welcome is not None and self.snapshot is not None and self.version >= self._welcome.version

    @property
    def remaining_seconds(self) -> float | None:
        """What is left on the table's clock; None when nothing is due."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def vote_remaining_seconds(self) -> float | None:
        """What is left for the answers to the vote that runs; None when there is none."""
        return None if self.now.vote is None else max(0.0, self._vote_deadline - time.monotonic())

    @property
    def string(self) -> str:
        """The string that this client committed to in the last count-in."""
        return "" if self._strings is None else self._strings.string

    def events(self) -> EventStream:
        """Every event since the last one that was read, then those to come. A snapshot stands for events that this
        socket never got. Ends when the table is closed or `close()` is called."""
        return self._stream

    @property
    def on_turn(self) -> bool:
        """Whether the table waits for this seat: off turn only decisions without an argument are legal."""
        return self.legal is not None and bool(self.legal.play or self.legal.name)

    def choices(self) -> tuple[object, ...]:
        """Decisions of the rules that this seat may take now, off turn too."""
        return () if self.legal is None else self.game.choices(self.legal)

    async def until(self, condition: Callable[[TableSocket], _Value], *, seconds: float | None = None) -> _Value:
        """Waits until the condition gives something true, looking again after each frame."""
        async with asyncio.timeout(seconds):
            while not (value := condition(self)):
                await self._change()
        return value

    async def refresh(self) -> Snapshot:
        """A snapshot of now."""
        if self.failure is not None:
            raise self.failure
        asked: asyncio.Future[Snapshot] = asyncio.get_running_loop().create_future()
        self._refreshes.append(asked)
        self._socket.hello(0)
        try:
            async with asyncio.timeout(self._backoff.command_seconds):
                return await asked
        except TimeoutError:
            raise DarbarError(Reason.NO_ANSWER, "no snapshot came") from None
        finally:
            if asked in self._refreshes:
                self._refreshes.remove(asked)

    # Commands.

    async def sit(self, seat: int | None = None) -> int:
        """Take this seat, or the next by the table's order."""
        return await self._command(frames.Sit, seat=seat)

    async def start_now(self) -> int:
        return await self._command(frames.StartNow)

    async def ready(self) -> int:
        return await self._command(frames.Ready)

    async def leave(self) -> int:
        """Give the seat up. Who has no seat has left already: of a repeat the table remembers nothing."""
        try:
            return await self._command(frames.Leave)
        except CommandRefused as refused:
            if refused.code != Reason.NOT_SEATED:
                raise
            return self.version

    async def im_back(self) -> int:
        return await self._command(frames.ImBack)

    async def send_bot_away(self, seat: int) -> int:
        return await self._command(frames.SendBotAway, seat=seat)

    async def send_player_away(self, seat: int) -> int:
        """As host, before a game: they can't sit down here again for a while (TL-8)."""
        return await self._command(frames.SendPlayerAway, seat=seat)

    async def ask_vote(self, about: frames.VoteAbout, seat: int | None = None) -> int:
        """Ask for this opponent as "partner", for a "bot" in this seat, or to "end_game"."""
        return await self._command(frames.AskVote, about=about, seat=seat)

    async def answer_vote(self, *, agree: bool) -> int:
        """To the vote that runs now."""
        vote = self.now.vote
        return await self._command(frames.AnswerVote, vote=0 if vote is None else vote.number, agree=agree)

    async def change_options(self, **options: object) -> int:
        """As host, before the first count-in: another value for options that the game lets be changed (TL-1)."""
        return await self._command(frames.ChangeOptions, options=options)

    async def say(self, phrase: frames.Phrase) -> int:
        """A phrase or a reaction for everybody at the table; what others say is in `heard`."""
        return await self._command(frames.Say, phrase=phrase)

    async def mute(self, seat: int, *, muted: bool = True) -> int:
        """Hear no more, or again, at this table what this player says."""
        return await self._command(frames.Mute, seat=seat, muted=muted)

    async def ask_microphone(self) -> str:
        """The ticket for `Player.send_note`; the voice notes of all are in `heard`."""
        await self._command(frames.AskMicrophone)
        return self.heard.ticket

    async def cancel_note(self) -> int:
        return await self._command(frames.CancelNote)

    async def decide(self, decision: object) -> int:
        """A decision of the rules, for the turn that is due now."""
        if type(decision) not in self.game.decisions.values():
            raise DarbarError(Reason.NO_DECISION_DUE, f"{type(decision).__name__} is no decision of this game")
        command_id = new_command_id()
        game = self.now.game_number
        frame = self._decisions.frame_of(decision, id=command_id, game=game, round=self.round, turn=self.turn)
        return await self._send(command_id, frame)

    async def _command(self, frame_type: Callable[..., frames.Frame], **values: object) -> int:
        command_id = new_command_id()
        return await self._send(command_id, frame_type(id=command_id, **values))

    async def _send(self, command_id: str, frame: frames.Frame) -> int:
        if self.failure is not None:
            raise self.failure
        return await self._commands.run(command_id, frame)

    # Coming and going.

    async def open(self, tasks: asyncio.TaskGroup) -> None:
        """Runs in these tasks; returns when the table is known. Raises DarbarError when it can't be joined."""
        self._task = tasks.create_task(self._run(), name=f"table {self.table_id}")
        try:
            await self.until(lambda table: table.caught_up)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends this socket; the seat stays (`leave()` gives it up)."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def cut(self) -> None:
        """Loses the connection on purpose; this socket comes back as after any other loss."""
        self._socket.cut()

    async def __aenter__(self) -> TableSocket:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self) -> None:
        failure: DarbarError = SocketEnded(Reason.SOCKET_CLOSED, "this socket was closed")
        try:
            await self._socket.run()
        except DarbarError as error:
            failure = error
        finally:
            self._end(failure)

    def _end(self, failure: DarbarError) -> None:
        self.failure = failure
        self.legal = None
        self._commands.end(failure)
        for asked in self._refreshes:
            if not asked.done():
                asked.set_exception(failure)
        expected = failure.code in (Reason.SOCKET_CLOSED, Reason.TABLE_CLOSED)
        self._stream.end(None if expected else failure)
        self._notify()

    # What the socket brings.

    @property
    def version_wanted(self) -> int:
        return 0 if self._refreshes or self.snapshot is None else self.version

    def opening(self) -> None:
        self._welcome = None
        self.connections += 1

    def _post(self, content: bytes) -> None:
        """Before a connection has caught up nothing is said on it; then everything unanswered is said once."""
        if self.caught_up:
            self._socket.post(content)

    def receive(self, frame: AnyServerFrame) -> None:
        """One frame of the table."""
        was_caught_up = self.caught_up
        match frame:
            case EventFrame():
                self._receive_event(frame)
            case Snapshot():
                self._receive_snapshot(frame)
            case Done():
                self._commands.acknowledged(frame.id, frame.version)
            case RefusedFrame():
                self._receive_refusal(frame)
            case Heartbeat():
                if was_caught_up and frame.version > self.version:
                    raise ConnectionLost("behind", f"the table is at {frame.version}, we have {self.version}")
            case Welcome():
                self._welcome = frame
                self.seat, self.heard.announcement = frame.seat, frame.announcement
            case Closing():
                raise ConnectionLost(frame.code, frame.message)
            case _:
                self.heard.take(frame)
        if self.caught_up and not was_caught_up:
            self._commands.send_again()
            self._follow()
        self._notify()

    def _receive_event(self, frame: EventFrame) -> None:
        if frame.version > self.version:
            if self._now is None or frame.version != self.version + 1:
                raise ConnectionLost("gap", f"{frame.version} came after {self.version}")
            self.version = frame.version
            self._take(frame)
            self._now = after_event(self._now, frame)
            self._stream.put(frame)
            self._follow()
        if frame.id is not None:
            self._commands.acknowledged(frame.id, frame.version)

    def _take(self, frame: EventFrame) -> None:
        public = frame.public
        self.round = public.get("round", self.round)
        self.turn = public.get("turn", self.turn)
        self._set_due(frame.legal, frame.remaining_ms)
        if frame.kind == "seat_taken" and frame.id is not None:
            self.seat = public["seat"]
        elif frame.kind == "seat_freed" and public["seat"] == self.seat:
            self.seat = None
        elif frame.kind == "seats_swapped" and self.seat in public["seats"]:
            (self.seat,) = (seat for seat in public["seats"] if seat != self.seat)
        elif frame.kind == "vote_asked":
            self._vote_deadline = time.monotonic() + public["seconds"]

    def _receive_snapshot(self, frame: Snapshot) -> None:
        is_news = self.snapshot is None or frame.version != self.version
        self.snapshot = frame
        self.version = frame.version
        self.seat = frame.seat
        self._now = frame.table
        game = frame.game or {}
        self.round = game.get("round", self._now.round)
        self.turn = game.get("turn", 0)
        self._set_due(frame.legal, frame.remaining_ms)
        self._vote_deadline = time.monotonic() + (frame.vote_remaining_ms or 0) / 1000
        if is_news:
            self._stream.put(frame)
        for asked in self._refreshes:
            if not asked.done():
                asked.set_result(frame)

    def _receive_refusal(self, frame: RefusedFrame) -> None:
        """Without an id it may be about our hello: then another connection is asked."""
        if frame.id is None and self._refreshes:
            raise ConnectionLost(frame.code, frame.message)
        self._commands.refused(frame)

    def _set_due(self, legal: Legal | None, remaining_ms: int | None) -> None:
        self.legal = legal
        self._deadline = None if remaining_ms is None else time.monotonic() + remaining_ms / 1000

    def _follow(self) -> None:
        if self._strings is not None and self._now is not None and self.caught_up:
            self._strings.follow(self._now, self.seat)

    def _notify(self) -> None:
        changed, self._changed = self._changed, None
        if changed is not None and not changed.done():
            changed.set_result(None)

    async def _change(self) -> None:
        if self.failure is not None:
            raise self.failure
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._changed)
