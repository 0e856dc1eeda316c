"""The microphones of the tables in memory: asked for, held, given back; everybody sees who has one (TL-46, TL-49).

Nothing of it is stored. A table that changes its owner has its microphone free, and media refuses a second note of a
round whatever a table has forgotten.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from uuid import UUID

import msgspec

from darbar_contracts.frames import AskMicrophone, CancelNote, MicrophoneHeld, NoteReady, UploadTicketGiven
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import MEDIA_VOICE_RIGHTS
from darbar_contracts.voice import (
    NoteStep,
    NoteStepTaken,
    NoteStored,
    UploadBegan,
    UploadEnded,
    UploadRefused,
    UploadTicket,
    VoiceRights,
    VoiceRightsRequest,
)
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_kit.seals import Seal
from darbar_table.domain import microphone
from darbar_table.domain.microphone import Microphone, refuse_to_record
from darbar_table.domain.refusals import refused
from darbar_table.engine.live_table import Connection, LiveTable, Reply
from darbar_table.settings import Settings

RIGHTS_SECONDS_MAX = 2.0
GRANT_ID_BYTES = 12
_encode = msgspec.json.Encoder().encode


class Microphones:
    """Of one node. Synchronous but for the question to media whether somebody may speak."""

    def __init__(
        self,
        settings: Settings,
        *,
        bus: Bus,
        find: Callable[[UUID], LiveTable],
        spawn: Callable[[Coroutine[None, None, None]], None],
    ) -> None:
        self._settings = settings
        self._seal = Seal(settings.ticket_key) if settings.ticket_key else None
        self._bus = bus
        self._find = find
        self._spawn = spawn

    def hear(self, live: LiveTable, socket: Connection, frame: AskMicrophone | CancelNote, reply: Reply) -> None:
        """Never blocks, never raises."""
        try:
            if isinstance(frame, CancelNote):
                self._change(live, microphone.cancelled(live.microphone, socket.account_id))
                reply.done(live.table.version)
                return
            if self._seal is None:
                raise refused(Reason.NOTES_NOT_HERE)
            refuse_to_record(live.microphone, live.table, socket.account_id)
        except Refused as refusal:
            _refuse(reply, refusal)
        else:
            self._spawn(self._ask(live, socket, frame, reply, seal=self._seal))

    def show(self, live: LiveTable, socket: Connection) -> None:
        """To somebody who has just come, when somebody records."""
        if live.microphone.grant is not None:
            socket.send(_held_frame(live))

    async def take(self, step: NoteStep) -> NoteStepTaken:
        """What media tells of a recording. Raises Refused: microphone_not_held, and what `find` refuses with."""
        live, grant_id, now = self._find(UUID(step.ticket.table_id)), step.ticket.grant_id, datetime.now(UTC)
        match step.step:
            case UploadBegan():
                seconds = self._settings.upload_seconds
                self._change(live, microphone.began(live.microphone, live.table, grant_id, now=now, seconds=seconds))
            case UploadEnded():
                self._change(live, microphone.ended(live.microphone, live.table, grant_id, now=now))
                sent = live.microphone.sent
                assert sent is not None
                return NoteStepTaken(sent.listeners, sent.sent_at)
            case UploadRefused():
                self._change(live, microphone.became_nothing(live.microphone, grant_id))
            case NoteStored():
                _play(live, step.ticket, step.step, now)
        return NoteStepTaken()

    async def _ask(
        self, live: LiveTable, socket: Connection, frame: AskMicrophone, reply: Reply, *, seal: Seal
    ) -> None:
        try:
            await self._refuse_banned(socket.account_id)
            made = microphone.granted(
                live.microphone,
                live.table,
                socket.account_id,
                grant_id=secrets.token_hex(GRANT_ID_BYTES),
                now=datetime.now(UTC),
                seconds=self._settings.microphone_seconds,
            )
        except Refused as refusal:
            _refuse(reply, refusal)
        except Unavailable as error:
            reply.refuse(Reason.UNAVAILABLE, error.message, details={}, retry=True)
        else:
            self._change(live, made)
            socket.send(_encode(UploadTicketGiven(frame.id, _ticket(live, made, seal))))
            reply.done(live.table.version)

    async def _refuse_banned(self, account_id: str) -> None:
        rights = await self._bus.request(
            MEDIA_VOICE_RIGHTS, VoiceRightsRequest(account_id), VoiceRights, timeout_seconds=RIGHTS_SECONDS_MAX
        )
        if rights.ban is not None:
            until = msgspec.to_builtins(rights.ban.until)
            raise Refused(Reason.VOICE_BANNED, details={"until": until, "reason": rights.ban.reason})

    def _change(self, live: LiveTable, after: Microphone) -> None:
        """Everybody sees a change of who has it, or for how long; whoever has it loses it in time."""
        before, live.microphone = live.microphone.grant, after
        if after.grant == before:
            return
        frame = _held_frame(live)
        for socket in list(live.sockets):
            socket.send(frame)
        if after.grant is not None:
            asyncio.get_running_loop().call_later(_seconds_left(after.grant.until), self._ran_out, live)

    def _ran_out(self, live: LiveTable) -> None:
        self._change(live, microphone.ran_out(live.microphone, now=datetime.now(UTC)))


def _seconds_left(until: datetime) -> float:
    # A call that comes a little early would find the time not over yet.
    return max(0.0, (until - datetime.now(UTC)).total_seconds()) + 0.001


def _held_frame(live: LiveTable) -> bytes:
    grant = live.microphone.grant
    if grant is None:
        return _encode(MicrophoneHeld(seat=None))
    seat = live.table.seat_of(grant.account_id)
    return _encode(MicrophoneHeld(seat=seat, remaining_ms=int(_seconds_left(grant.until) * 1000)))


def _ticket(live: LiveTable, made: Microphone, seal: Seal) -> str:
    grant = made.grant
    assert grant is not None
    return seal.write(
        UploadTicket(
            table_id=live.table.table_id,
            game_number=grant.game,
            round=grant.round,
            account_id=grant.account_id,
            seat=grant.seat,
            grant_id=grant.grant_id,
            expires_at=grant.until,
        )
    )


def _play(live: LiveTable, ticket: UploadTicket, stored: NoteStored, now: datetime) -> None:
    """For everybody who was seated when it was sent, wherever they sit now."""
    frame = _encode(
        NoteReady(
            note_id=stored.note_id,
            seat=live.table.seat_of(ticket.account_id),
            milliseconds=stored.milliseconds,
            plays_at=stored.plays_at,
            plays_in_ms=max(0, int((stored.plays_at - now).total_seconds() * 1000)),
            path=stored.path,
        )
    )
    for socket in list(live.sockets):
        if socket.account_id in stored.listeners:
            socket.send(frame)


def _refuse(reply: Reply, refusal: Refused) -> None:
    reply.refuse(refusal.code, refusal.message, details=refusal.details, retry=False)
