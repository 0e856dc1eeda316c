"""How a table is made, once for each key. Open this when a table is made twice, or not at all."""

from __future__ import annotations

import asyncio
import secrets
from datetime import UTC, datetime

import msgspec

from darbar_contracts.api import NewTable, Problem, TableRef
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import CreateTable, Person, TableTerms
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.domain.addresses import invite_url, socket_of
from darbar_lobby.domain.directory_model import INVITE_BYTES, DirectoryEntry
from darbar_lobby.domain.idempotency import IDEMPOTENCY_KEY, body_sha256
from darbar_lobby.handlers.catalogue import Games, GameUnknown, OptionsInvalid
from darbar_lobby.handlers.directory_projector import DirectoryProjector
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.intentions import Intention, IntentionStore, NewIntention, StoredAnswer

# Who waits for somebody else's table to be made looks so often, less and less.
LOOK_AGAIN_SECONDS = 0.02
LOOK_AGAIN_SECONDS_MAX = 0.25
WAITING_SECONDS_MAX = 10.0


class TableCreation:
    """Stores what is to be made before the table service is asked, so that any repeat finishes the same table."""

    def __init__(
        self,
        *,
        intentions: IntentionStore,
        projector: DirectoryProjector,
        table_client: TableClient,
        games: Games,
        metrics: Metrics,
        public_url: str,
    ) -> None:
        self._intentions = intentions
        self._projector = projector
        self._table_client = table_client
        self._games = games
        self._metrics = metrics
        self._public_url = public_url

    async def create(self, host: Person, key: str, body: NewTable) -> StoredAnswer:
        """The same answer for the same key and body, a refusal by the table service included."""
        new = self.new_intention(host, key, body)
        return await self.finish(new, await self._intentions.intend(new))

    def new_intention(self, host: Person, key: str, body: NewTable) -> NewIntention:
        """What is to be stored for a new table. Raises Refused when the body or the key is no good."""
        request = CreateTable(self._table_client.new_table_id(), self._terms(body), host)
        entry = _entry(request, invite_token=secrets.token_urlsafe(INVITE_BYTES), created_at=datetime.now(UTC))
        return NewIntention(host.account_id, _validated_key(key), body_sha256(body), request, entry)

    async def finish(self, new: NewIntention, intention: Intention) -> StoredAnswer:
        """The answer to who sent `new`, when `intention` is what lies under the key. Raises Unavailable, or Refused
        when the key came with another body."""
        if intention.body_sha256 != new.body_sha256:
            raise Refused(Reason.IDEMPOTENCY_KEY_REUSED)
        return await self.made(intention)

    async def made(self, intention: Intention) -> StoredAnswer:
        """Makes what is intended, or waits for who makes it. When the maker dies on the way, who waits takes over."""
        end = asyncio.get_running_loop().time() + WAITING_SECONDS_MAX
        pause_seconds = LOOK_AGAIN_SECONDS
        while intention.answer is None and not intention.is_maker:
            intention = await self._intentions.take_over(intention)
            if intention.answer is not None or intention.is_maker:
                break
            if asyncio.get_running_loop().time() > end:
                raise Unavailable(Reason.TABLES_UNAVAILABLE)
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(2 * pause_seconds, LOOK_AGAIN_SECONDS_MAX)
        if intention.answer is not None:
            return intention.answer
        try:
            return await self._make(intention)
        except Unavailable:
            await self._intentions.release(intention)
            raise

    async def _make(self, intention: Intention) -> StoredAnswer:
        try:
            look = await self._table_client.create(intention.request)
        except Refused as refused:
            problem = Problem(refused.code, refused.message, refused.details)
            answer = StoredAnswer(refused.status, msgspec.json.encode(problem))
            stored, _ = await self._intentions.answer(intention, answer, forget_table=True)
            return stored
        entry, code = await self._projector.open(intention.request.table_id)
        made = TableRef(
            table_id=entry.table_id,
            code=code,
            invite_token=entry.invite_token,
            invite_url=invite_url(self._public_url, entry.invite_token),
            socket=socket_of(entry.table_id, look.process_id),
        )
        stored, is_first = await self._intentions.answer(intention, StoredAnswer(201, msgspec.json.encode(made)))
        if is_first:
            self._metrics.tables_made.labels(entry.terms.game).inc()
        return stored

    def _terms(self, body: NewTable) -> TableTerms:
        try:
            return self._games.terms(body)
        except GameUnknown:
            raise Refused(Reason.GAME_UNKNOWN) from None
        except OptionsInvalid as invalid:
            raise Refused(Reason.OPTION_INVALID, details={"fields": invalid.fields}) from invalid


def _validated_key(key: str) -> str:
    if not key:
        raise Refused(Reason.IDEMPOTENCY_KEY_MISSING)
    if not IDEMPOTENCY_KEY.fullmatch(key):
        raise Refused(Reason.IDEMPOTENCY_KEY_INVALID)
    return key


def _entry(request: CreateTable, *, invite_token: str, created_at: datetime) -> DirectoryEntry:
    return DirectoryEntry(
        table_id=request.table_id,
        host_id=request.host.account_id,
        terms=request.terms,
        invite_token=invite_token,
        free_seats=request.terms.seats - 1,
        created_at=created_at,
    )
