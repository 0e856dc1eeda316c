"""How quick play brings people together. Open this when those who seek the same sit apart."""

from __future__ import annotations

import secrets

import msgspec

from darbar_contracts.api import NewTable, Problem, QuickPlay, TableRef
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import Person, TableLook, TableTerms
from darbar_kit.errors import Refused
from darbar_lobby.domain.addresses import socket_of
from darbar_lobby.domain.directory_model import DirectoryEntry
from darbar_lobby.domain.table_look import has_room, sits_alone, sits_in
from darbar_lobby.handlers.table_client import TableClient, TableGone
from darbar_lobby.handlers.table_creation import TableCreation
from darbar_lobby.store.directory import DirectoryStore
from darbar_lobby.store.intentions import Intention, IntentionStore, NewIntention, StoredAnswer
from darbar_lobby.store.quick_play import Place, QuickPlayStore

TABLES_TRIED_MAX = 5


class Matchmaker:
    """The database decides about those who seek the same game and bet, one after the other. What takes time is done
    outside of that decision, and another table is tried when it fails."""

    def __init__(
        self,
        *,
        directory: DirectoryStore,
        quick_play: QuickPlayStore,
        intentions: IntentionStore,
        creation: TableCreation,
        table_client: TableClient,
    ) -> None:
        self._directory = directory
        self._quick_play = quick_play
        self._intentions = intentions
        self._creation = creation
        self._table_client = table_client

    async def quick_play(self, player: Person, key: str | None, body: QuickPlay) -> StoredAnswer:
        """The table where one sits with others comes first, then one with a free seat, then a new one. A host who sits
        alone is brought to an older table (TL-7)."""
        new_table = NewTable(game=body.game, bet_coins=body.bet_coins, visibility="public")
        new = self._creation.new_intention(player, secrets.token_urlsafe() if key is None else key, new_table)
        own, look = await self._seat_of(player.account_id)
        if own is None:
            return await self._where_one_sits(player.account_id, body, await self._find_or_make(new))
        if not _is_sought(own.terms, body):
            raise Refused(Reason.SEATED_ELSEWHERE, details={"table_id": own.table_id})
        if look is not None and sits_alone(look, player.account_id):
            moved = await self._move(new, own)
            if moved is not None:
                return moved
        return _found(own.table_id, look)

    async def _seat_of(self, account_id: str) -> tuple[DirectoryEntry | None, TableLook | None]:
        """By the directory, but the owner knows better: somebody who left a moment ago sits nowhere."""
        own = await self._directory.seated_at(account_id)
        if own is None:
            return None, None
        try:
            look = await self._table_client.look(own.table_id)
        except TableGone:
            return None, None
        return (own, look) if look is None or sits_in(look, account_id) else (None, None)

    async def _where_one_sits(self, account_id: str, body: QuickPlay, answer: StoredAnswer) -> StoredAnswer:
        """Tables refuse who has a seat of which the directory has not heard yet: it may be what is sought."""
        problem = msgspec.json.decode(answer.body, type=Problem) if answer.status >= 400 else None
        if problem is None or problem.code != Reason.SEATED_ELSEWHERE or "table_id" not in problem.details:
            return answer
        try:
            look = await self._table_client.look(str(problem.details["table_id"]))
        except TableGone:
            return answer
        if look is None or not sits_in(look, account_id) or not _is_sought(look.terms, body):
            return answer
        return _found(look.table_id, look)

    async def _find_or_make(self, new: NewIntention) -> StoredAnswer:
        tried: list[str] = []
        for _ in range(TABLES_TRIED_MAX):
            found = await self._quick_play.find_or_intend(new, tried=tried)
            if isinstance(found, Intention):
                return await self._creation.finish(new, found)
            if found.entry.state == "asked" and found.entry.host_id == new.account_id:
                own = await self._intentions.of_table(found.entry.table_id)
                if own is not None:
                    return await self._creation.made(own)
            look = await self._look_for_room(new, found)
            if look is not None:
                return _found(found.entry.table_id, look)
            tried.append(found.entry.table_id)
        return await self._creation.finish(new, await self._intentions.intend(new))

    async def _move(self, new: NewIntention, own: DirectoryEntry) -> StoredAnswer | None:
        """From a table where a host sits alone to an older one; None when the host stays."""
        tried: list[str] = []
        for _ in range(TABLES_TRIED_MAX):
            place = await self._quick_play.find_older(new, own, tried=tried)
            if place is None:
                break
            look = await self._look_for_room(new, place)
            if look is not None and await self._table_client.leave_alone(own.table_id, new.account_id):
                return _found(place.entry.table_id, look)
            tried.append(place.entry.table_id)
        if tried:
            await self._quick_play.stay(new.account_id, own)
        return None

    async def _look_for_room(self, new: NewIntention, place: Place) -> TableLook | None:
        """A look at a table where one sits already, or that has a seat for one more than those who are on their way.
        None when it has none, or keeps this account out: somebody who was sent away is sent there no more."""
        if place.entry.state == "asked":
            intention = await self._intentions.of_table(place.entry.table_id)
            if intention is None or (await self._creation.made(intention)).status != 201:
                return None
        try:
            look = await self._table_client.look(place.entry.table_id, for_account=new.account_id)
        except TableGone:
            return None
        if look is None or look.keeps_out:
            return None
        return look if sits_in(look, new.account_id) or has_room(look, place.held_by) else None


def _is_sought(terms: TableTerms, body: QuickPlay) -> bool:
    return (terms.game, terms.bet_coins, terms.visibility) == (body.game, body.bet_coins, "public")


def _found(table_id: str, look: TableLook | None) -> StoredAnswer:
    found = TableRef(table_id, socket_of(table_id, None if look is None else look.process_id), made=False)
    return StoredAnswer(200, msgspec.json.encode(found))
