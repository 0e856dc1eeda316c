"""What happens when tables are looked for and looked at. Open this about the list, codes and invites."""

from __future__ import annotations

import uuid

from darbar_contracts.api import ListQuery, PlayerShown, SeatedAt, TableList, TableListed, TableSeen, TableShown
from darbar_contracts.refusals import Reason
from darbar_contracts.tables import Person, TableLook, handle_of
from darbar_kit.errors import Refused
from darbar_lobby.domain.addresses import invite_url, socket_of
from darbar_lobby.domain.codes import is_code
from darbar_lobby.domain.directory_model import DirectoryEntry
from darbar_lobby.domain.table_look import free_seats, sits_in
from darbar_lobby.handlers.table_client import TableClient, TableGone
from darbar_lobby.store.directory import DirectoryStore

INVITE_CHARACTERS_MAX = 64
# What a look says when the owner doesn't: nobody knows just now.
PHASE_UNKNOWN = "unknown"


class Tables:
    """One method for each way to look at tables."""

    def __init__(self, *, directory: DirectoryStore, table_client: TableClient, public_url: str) -> None:
        self._directory = directory
        self._table_client = table_client
        self._public_url = public_url

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
        entry = await self._directory.entry(validated_table_id(table_id))
        if entry is None or entry.state == "asked":
            raise _table_unknown()
        look, is_gone = None, entry.state == "closed"
        try:
            look = await self._table_client.look(table_id) if _may_be_seen(entry, account_id) else None
        except TableGone:
            is_gone = True
        if not _is_for(entry, look, account_id):
            raise _table_unknown()
        if is_gone:
            raise Refused(Reason.TABLE_CLOSED)
        return await self._seen(entry, look, account_id)

    async def by_code(self, code: str, account_id: str | None) -> TableSeen:
        entry = await self._directory.by_code(code) if is_code(code) else None
        if entry is None:
            raise Refused(Reason.CODE_UNKNOWN)
        return await self._seen(entry, await self._look(entry, Reason.CODE_UNKNOWN), account_id)

    async def by_invite(self, invite_token: str, account_id: str | None) -> TableSeen:
        is_short = len(invite_token) <= INVITE_CHARACTERS_MAX
        entry = await self._directory.by_invite(invite_token) if is_short else None
        if entry is None:
            raise Refused(Reason.INVITE_UNKNOWN)
        return await self._seen(entry, await self._look(entry, Reason.INVITE_UNKNOWN), account_id)

    async def seat_of(self, account_id: str) -> SeatedAt | None:
        """Where an account sits, by the directory."""
        entry = await self._directory.seated_at(account_id)
        if entry is None:
            return None
        return SeatedAt(
            entry.table_id, entry.terms.game, socket_of(entry.table_id, await self._table_client.where(entry.table_id))
        )

    async def _look(self, entry: DirectoryEntry, gone: Reason) -> TableLook | None:
        """None when the owner does not say; refused with `gone` when it says that the table is over."""
        try:
            return await self._table_client.look(entry.table_id)
        except TableGone:
            raise Refused(gone) from None

    async def _seen(self, entry: DirectoryEntry, look: TableLook | None, account_id: str | None) -> TableSeen:
        is_shared = _belongs_to(entry, look, account_id)
        return TableSeen(
            table=_shown(await self._look_of(entry) if look is None else look),
            fresh=look is not None,
            free_seats=entry.free_seats if look is None else free_seats(look),
            socket=socket_of(entry.table_id, None if look is None else look.process_id),
            code=await self._directory.code_of(entry.table_id) if is_shared and entry.code_opens else None,
            invite_token=entry.invite_token if is_shared else None,
            invite_url=invite_url(self._public_url, entry.invite_token) if is_shared else None,
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


def _shown(look: TableLook) -> TableShown:
    """Without the ids of accounts, which are the table's and the lobby's alone."""
    seats = tuple(
        None if person is None else PlayerShown(handle_of(person.account_id), person.name, person.avatar)
        for person in look.seats
    )
    return TableShown(
        table_id=look.table_id,
        terms=look.terms,
        phase=look.phase,
        seats=seats,
        bots=look.bots,
        round=look.round,
        version=look.version,
        process_id=look.process_id,
    )


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


def validated_table_id(table_id: str) -> str:
    """Raises Refused for what is no id of a table."""
    try:
        is_good = str(uuid.UUID(table_id)) == table_id
    except ValueError:
        is_good = False
    if not is_good:
        raise _table_unknown()
    return table_id


def _table_unknown() -> Refused:
    return Refused(Reason.TABLE_UNKNOWN)
