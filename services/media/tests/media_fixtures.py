"""One media service for a file of tests, over real servers, with no more rights than it has. Open this to need more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest_asyncio
from documented_answers import documented
from table_double import TableDouble

import darbar_media
from darbar_contracts.subjects import PERMISSIONS
from darbar_contracts.voice import NoteSent
from darbar_kit.bus import Bus
from darbar_kit.database import Database, queries
from darbar_kit.embedded.nats import NatsServer
from darbar_kit.embedded.nats_rights import Permissions
from darbar_kit.seals import Seal
from darbar_kit.testing import MakeDatabase, MakeNats, TestDatabase
from darbar_kit.tokens import Claims, TokenWriter, new_private_key_pem, public_key_pem
from darbar_media.domain import Note
from darbar_media.handlers.retention import Retention
from darbar_media.metrics import Metrics
from darbar_media.settings import Settings
from darbar_media.store.notes import NoteStore
from darbar_media.store.sounds import JetStreamSounds, Sounds
from darbar_media.testing import HttpClient, TurnedClock, running

MIGRATIONS = Path(darbar_media.__file__).parent / "migrations"
TICKET_KEY = "only-for-tests-only-for-tests"
USERS = {name: Permissions(*pair) for name, pair in PERMISSIONS.items()}


@dataclass
class Media:
    """A media service and what lies behind it. `bus` is the lobby's connection, as whom moderators ask."""

    http: HttpClient
    bus: Bus
    clock: TurnedClock
    notes: NoteStore
    sounds: Sounds
    database: TestDatabase
    token_key: str
    nats: NatsServer
    settings: Settings
    table: TableDouble

    def bearer(self, account_id: str, *, role: str = "player", access_seconds: int = 900) -> dict[str, str]:
        claims = Claims(account_id=account_id, name=account_id, avatar="owl", role=role)
        token = TokenWriter(self.token_key, access_seconds=access_seconds, clock=self.clock).write(claims)
        return {"Authorization": f"Bearer {token}"}

    async def stored_note(self, *listeners: str, table_id: UUID | None = None, sound: bytes = b"sound") -> Note:
        """As an upload leaves it: sent by the first of the listeners just now."""
        now = self.clock()
        note = Note(
            note_id=uuid4(),
            table_id=table_id or uuid4(),
            game_number=1,
            round=1,
            account_id=listeners[0],
            seat=0,
            listeners=listeners,
            milliseconds=2000,
            sent_at=now,
            plays_at=now + timedelta(seconds=1),
        )
        await self.sounds.put(note.note_id, "ogg", sound)
        await self.sounds.put(note.note_id, "m4a", sound[::-1])
        assert await self.notes.add(note)
        return note

    async def send(
        self, recording: bytes | AsyncIterator[bytes], headers: Mapping[str, str], content_type: str = "audio/webm"
    ) -> tuple[int, dict[str, str]]:
        """Status and body of POST /v1/voice-notes."""
        sent = {"Content-Type": content_type, **headers}
        async with self.http.post("/v1/voice-notes", data=recording, headers=sent) as response:
            documented("POST", "/v1/voice-notes", response.status, body := await response.json())
            return response.status, body

    async def sent_by(self, account_id: str, recording: bytes) -> NoteSent:
        """A note that was taken."""
        ticket = self.table.sealed(self.table.grant(account_id, now=self.clock()))
        status, body = await self.send(recording, {**self.bearer(account_id), **ticket})
        assert status == 201, body
        return msgspec.convert(body, NoteSent)

    async def delete_what_is_over(self) -> None:
        """As the job does again and again."""
        retention = Retention(self.notes, self.sounds, Metrics(), now=self.clock)
        while await retention.delete_some():
            pass


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def media(make_database: MakeDatabase, make_nats: MakeNats) -> AsyncIterator[Media]:
    database, nats, key = await make_database("media", MIGRATIONS), await make_nats(USERS), new_private_key_pem()
    settings = Settings(
        database_url=database.url,
        nats_url=nats.url("media"),
        token_public_key=public_key_pem(key),
        ticket_key=TICKET_KEY,
        unsafe_storage=True,
        uploads_a_minute_max=0,
    )
    pool = await Database.open(database.url, unsafe_storage=True, size_max=2)
    bus, own = await Bus.connect(nats.url("lobby"), name="lobby"), await Bus.connect(nats.url("media"), name="media")
    as_table = await Bus.connect(nats.url("table"), name="table")
    table = TableDouble(Seal(TICKET_KEY))
    await table.serve(as_table)
    clock = TurnedClock()
    async with running(settings, clock) as http:
        yield Media(
            http=http,
            bus=bus,
            clock=clock,
            notes=NoteStore(pool, queries("darbar_media.store")),
            sounds=JetStreamSounds(own.jetstream),
            database=database,
            token_key=key,
            nats=nats,
            settings=settings,
            table=table,
        )
    await as_table.close()
    await own.close()
    await bus.close()
    await pool.close()
