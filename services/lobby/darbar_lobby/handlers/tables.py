"""What happens when tables are made, found and looked at. Open this about the directory, codes and quick play."""

from __future__ import annotations

import secrets
import uuid
from datetime import UTC, datetime

import msgspec

from darbar_contracts.api import (
    ListQuery,
    NewTable,
    QuickPlay,
    SeatedAt,
    SocketPaths,
    TableList,
    TableListed,
    TableRef,
    TableSeen,
)
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import CreateTable, Person, TableLook, TableTerms
from darbar_kit.errors import Refused
from darbar_lobby.domain.codes import is_code
from darbar_lobby.domain.directory_model import INVITE_BYTES, DirectoryEntry
from darbar_lobby.domain.idempotency import IDEMPOTENCY_KEY, body_sha256
from darbar_lobby.handlers.catalogue import Games, GameUnknown, OptionsInvalid, TableChoice
from darbar_lobby.handlers.directory_projector import DirectoryProjector
from darbar_lobby.handlers.table_client import TableClient
from darbar_lobby.metrics import Metrics
from darbar_lobby.store.directory import DirectoryStore, StoredAnswer

INVITE_CHARACTERS_MAX = 64
TABLES_TRIED_MAX = 5
# What a look says when the owner doesn't: nobody knows just now.
PHASE_UNKNOWN = "unknown"


class Tables:
    """One method for each thing that people do."""

    def __init__(
        self,
        *,
        directory: DirectoryStore,
        projector: DirectoryProjector,
        table_client: TableClient,
        games: Games,
        metrics: Metrics,
        public_url: str,
    ) -> None:
        self._directory = directory
        self._projector = projector
        self._table_client = table_client
        self._games = games
        self._metrics = metrics
        self._public_url = public_url.rstrip("/")

    async def create(self, host: Person, key: str, body: NewTable) -> StoredAnswer:
        """The same answer for the same key and body, a refusal by the table service included."""
        validated_key(key)
        choice = self._choice(body)
        table_id, now = str(uuid.uuid4()), datetime.now(UTC)
        invite_token = secrets.token_urlsafe(INVITE_BYTES)
        request = _create_table(table_id, host, body, choice=choice)
        sha256 = body_sha256(body)
        intention = await self._directory.intend(
            host.account_id,
            key,
            body_sha256=sha256,
            request=request,
            entry=_entry(request, invite_token=invite_token, created_at=now),
        )
        if intention.body_sha256 != sha256:
            raise Refused(Reason.IDEMPOTENCY_KEY_REUSED)
        if intention.answer is not None:
            return intention.answer
        return await self._finish(host.account_id, key, intention.request)

    async def quick_play(self, host: Person, key: str | None, body: QuickPlay) -> StoredAnswer:
        """A table where one sits already comes first, then one with a free seat, then a new one."""
        self._rules_known(body.game)
        seated = await self._seated_at(host.account_id)
        if seated is not None:
            terms = seated.terms
            if (terms.game, terms.bet_coins, terms.visibility) != (body.game, body.bet_coins, "public"):
                details = {"table_id": seated.table_id}
                raise Refused(Reason.SEATED_ELSEWHERE, details=details)
            return _found(seated.table_id, await self._table_client.where(seated.table_id))
        for entry in await self._directory.quick_play(body.game, body.bet_coins, TABLES_TRIED_MAX):
            look = await self._table_client.look(entry.table_id)
            if look is not None and free_seats(look):
                return _found(entry.table_id, look.process_id)
        new_table = NewTable(game=body.game, bet_coins=body.bet_coins, visibility="public")
        return await self.create(host, secrets.token_urlsafe() if key is None else key, new_table)

    async def listed(self, query: ListQuery) -> TableList:
        """Out of the directory alone: asking every owner would cost more than a seat taken a moment ago."""
        found = await self._directory.listed(query)
        page = found[: query.limit]
        tables = tuple(
            TableListed(
                table_id=entry.table_id,
                terms=entry.terms,
                free_seats=entry.free_seats,
                playing=entry.playing,
                host=host,
                socket=socket_of(entry.table_id, None),
            )
            for entry, host in page
        )
        return TableList(tables, page[-1][0].sequence if len(found) > query.limit else None)

    async def table(self, table_id: str, account_id: str | None) -> TableSeen:
        """A private table is unknown to all but those who sit there and its host."""
        entry = await self._directory.entry(_validated_table_id(table_id))
        if entry is None or entry.state == "asked":
            raise _table_unknown()
        look = await self._table_client.look(table_id) if _may_be_seen(entry, account_id) else None
        if not _is_for(entry, look, account_id):
            raise _table_unknown()
        if entry.state == "closed":
            raise Refused(Reason.TABLE_CLOSED)
        return await self._seen(entry, look, account_id)

    async def by_code(self, code: str, account_id: str | None) -> TableSeen:
        entry = await self._directory.by_code(code) if is_code(code) else None
        if entry is None:
            raise Refused(Reason.CODE_UNKNOWN)
        return await self._seen(entry, await self._table_client.look(entry.table_id), account_id)

    async def by_invite(self, invite_token: str, account_id: str | None) -> TableSeen:
        is_short = len(invite_token) <= INVITE_CHARACTERS_MAX
        entry = await self._directory.by_invite(invite_token) if is_short else None
        if entry is None:
            raise Refused(Reason.INVITE_UNKNOWN)
        return await self._seen(entry, await self._table_client.look(entry.table_id), account_id)

    async def seat_of(self, account_id: str) -> SeatedAt | None:
        """Where an account sits, by the directory."""
        entry = await self._directory.seated_at(account_id)
        if entry is None:
            return None
        return SeatedAt(
            entry.table_id, entry.terms.game, socket_of(entry.table_id, await self._table_client.where(entry.table_id))
        )

    async def _finish(self, account_id: str, key: str, request: CreateTable) -> StoredAnswer:
        """Makes the table that was intended under this key. When this process dies on the way, a repeat does it."""
        try:
            look = await self._table_client.create(request)
        except Refused as refused:
            problem = {"code": refused.code, "message": refused.message, "details": refused.details}
            answer = StoredAnswer(refused.status, msgspec.json.encode(problem))
            return await self._directory.answer_intention(
                account_id, key, answer=answer, forget_table_id=request.table_id
            )
        entry, code = await self._projector.open(request.table_id)
        made = TableRef(
            table_id=entry.table_id,
            code=code,
            invite_token=entry.invite_token,
            invite_url=self._invite_url(entry),
            socket=socket_of(entry.table_id, look.process_id),
        )
        answer = StoredAnswer(201, msgspec.json.encode(made))
        stored = await self._directory.answer_intention(account_id, key, answer=answer)
        self._metrics.tables_made.labels(entry.terms.game).inc()
        return stored

    async def _seated_at(self, account_id: str) -> DirectoryEntry | None:
        """By the directory, but the owner knows better: somebody who left a moment ago sits nowhere."""
        entry = await self._directory.seated_at(account_id)
        if entry is None:
            return None
        look = await self._table_client.look(entry.table_id)
        return entry if look is None or sits_in(look, account_id) else None

    async def _seen(self, entry: DirectoryEntry, look: TableLook | None, account_id: str | None) -> TableSeen:
        is_shared = _belongs_to(entry, look, account_id)
        return TableSeen(
            table=await self._look_of(entry) if look is None else look,
            fresh=look is not None,
            free_seats=entry.free_seats if look is None else free_seats(look),
            socket=socket_of(entry.table_id, None if look is None else look.process_id),
            code=await self._directory.code_of(entry.table_id) if is_shared and entry.code_opens else None,
            invite_token=entry.invite_token if is_shared else None,
            invite_url=self._invite_url(entry) if is_shared else None,
        )

    async def _look_of(self, entry: DirectoryEntry) -> TableLook:
        """What the directory knows, in the form of the owner's answer."""
        people = await self._directory.people([holder.account_id for holder in entry.holders if holder.account_id])
        seats: list[Person | None] = [None] * max([entry.terms.seats, *(holder.seat + 1 for holder in entry.holders)])
        for holder in entry.holders:
            if holder.account_id is not None:
                seats[holder.seat] = people.get(holder.account_id) or Person(holder.account_id, "", "")
        return TableLook(
            table_id=entry.table_id,
            terms=entry.terms,
            phase=PHASE_UNKNOWN,
            seats=tuple(seats),
            bots=tuple(holder.seat for holder in entry.holders if holder.account_id is None),
            round=entry.round,
            version=0,
            process_id="",
        )

    def _choice(self, body: NewTable) -> TableChoice:
        self._rules_known(body.game)
        try:
            return self._games.choice(body.game, body.options, body.seats)
        except OptionsInvalid as invalid:
            details = {"fields": invalid.fields}
            raise Refused(Reason.OPTION_INVALID, details=details) from invalid

    def _rules_known(self, game: str) -> None:
        try:
            self._games.rules_of(game)
        except GameUnknown:
            raise Refused(Reason.GAME_UNKNOWN) from None

    def _invite_url(self, entry: DirectoryEntry) -> str:
        return f"{self._public_url}/join/{entry.invite_token}"


def validated_key(key: str) -> None:
    """Raises Refused for what is no idempotency key."""
    if not key:
        raise Refused(Reason.IDEMPOTENCY_KEY_MISSING)
    if not IDEMPOTENCY_KEY.fullmatch(key):
        raise Refused(Reason.IDEMPOTENCY_KEY_INVALID)


def socket_of(table_id: str, process_id: str | None) -> SocketPaths:
    """Where to connect."""
    path = f"tables/{table_id}/socket"
    return SocketPaths(direct=f"/play/at/{process_id}/{path}" if process_id else None, any=f"/play/{path}")


def free_seats(look: TableLook) -> int:
    return sum(person is None and seat not in look.bots for seat, person in enumerate(look.seats))


def sits_in(look: TableLook, account_id: str) -> bool:
    return any(person is not None and person.account_id == account_id for person in look.seats)


def _belongs_to(entry: DirectoryEntry, look: TableLook | None, account_id: str | None) -> bool:
    if account_id is None:
        return False
    if account_id == entry.host_id or entry.seats_account(account_id):
        return True
    return look is not None and sits_in(look, account_id)


def _may_be_seen(entry: DirectoryEntry, account_id: str | None) -> bool:
    """Whether asking the owner can change the answer; a closed table has nothing more to say."""
    return entry.state == "open" and (entry.terms.visibility == "public" or account_id is not None)


def _is_for(entry: DirectoryEntry, look: TableLook | None, account_id: str | None) -> bool:
    return entry.terms.visibility == "public" or _belongs_to(entry, look, account_id)


def _found(table_id: str, process_id: str | None) -> StoredAnswer:
    found = TableRef(table_id, socket_of(table_id, process_id), made=False)
    return StoredAnswer(200, msgspec.json.encode(found))


def _validated_table_id(table_id: str) -> str:
    try:
        is_good = str(uuid.UUID(table_id)) == table_id
    except ValueError:
        is_good = False
    if not is_good:
        raise _table_unknown()
    return table_id


def _table_unknown() -> Refused:
    return Refused(Reason.TABLE_UNKNOWN)


def _create_table(table_id: str, host: Person, body: NewTable, *, choice: TableChoice) -> CreateTable:
    terms = TableTerms(
        game=body.game,
        options=choice.options,
        seats=choice.seats,
        bet_coins=body.bet_coins,
        turn_seconds=body.turn_seconds,
        visibility=body.visibility,
        bot_level=body.bot_level,
    )
    return CreateTable(table_id, terms, host)


def _entry(request: CreateTable, *, invite_token: str, created_at: datetime) -> DirectoryEntry:
    return DirectoryEntry(
        table_id=request.table_id,
        host_id=request.host.account_id,
        terms=request.terms,
        invite_token=invite_token,
        free_seats=request.terms.seats - 1,
        created_at=created_at,
    )
