"""How a table comes into the world. Open this when creating one is refused, or makes two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from darbar_contracts.frames import TableReason
from darbar_contracts.tables import CreateTable, TableLook
from darbar_kit.errors import Refused, Unavailable
from darbar_rules.game import Game, OptionInvalid
from darbar_rules.games import BY_NAME
from darbar_table import domain
from darbar_table.chain import first_link, link
from darbar_table.entry import Entry
from darbar_table.events import TableCreated
from darbar_table.evolve import created
from darbar_table.handlers import Handlers, look_of
from darbar_table.house import House
from darbar_table.milestones import milestone_of
from darbar_table.refusals import refused
from darbar_table.seats import STAKES_FACTOR
from darbar_table.settings import Settings
from darbar_table.shards import shard_of
from darbar_table.store import AWAY, Store
from darbar_table.writer import Append, Outcome, Row


class Opening:
    """Opens tables for the lobby; the same id with the same body is the same table."""

    def __init__(self, settings: Settings, *, store: Store, handlers: Handlers, house: Callable[[], House]) -> None:
        self._settings = settings
        self._store = store
        self._handlers = handlers
        self._house = house

    async def create(self, command: CreateTable) -> TableLook:
        """Raises Refused (not_owner, option_invalid, short_of_coins, seated_elsewhere) and Unavailable."""
        house = self._house()
        table_id = UUID(command.table_id)
        shard = shard_of(table_id)
        if shard not in house.shards:
            raise refused(TableReason.NOT_OWNER)
        known = house.owner.entries.get(table_id)
        if known is not None:
            return look_of(known, house.process_id)
        rules, options = self._checked(command)
        if await self._handlers.balance(command.host.account_id) < STAKES_FACTOR * command.bet_coins:
            raise refused(TableReason.SHORT_OF_COINS, needed_coins=STAKES_FACTOR * command.bet_coins)
        await self._handlers.claim(table_id, command.host.account_id)
        try:
            await self._store.open_table(table_id, shard=shard, game=rules.name)
        except AWAY as error:
            raise Unavailable(TableReason.UNAVAILABLE, "the database is away") from error
        return await self._open(house, table_id, domain.create(command, rules, options), rules=rules, options=options)

    async def _open(self, house: House, table_id: UUID, event: TableCreated, *, rules: Game, options: Any) -> TableLook:
        codec = house.codecs.of(rules.name)[1]
        at = datetime.now(UTC)
        kind, body = codec.kind_of(event), codec.encode(event)
        chain = link(first_link(table_id), table_id, 1, kind=kind, at=at, body=body)
        table = created(str(table_id), event, rules, options)
        entry = Entry(table_id, shard=shard_of(table_id), codec=codec, table=table, chain=chain)
        told = milestone_of(event, table, at=at, generation=self._settings.generation)
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        house.writer.offer(
            Append(
                table_id,
                [Row(1, kind, body.decode(), at, chain)],
                shard=entry.shard,
                outbox=[(1, msgspec.json.encode(told).decode())],
                done=lambda result: None if outcome.done() else outcome.set_result(result),
            )
        )
        # Shielded: a caller that goes away must not leave a stored table that nobody holds.
        return await asyncio.shield(asyncio.ensure_future(self._opened(house, entry, outcome)))

    async def _opened(self, house: House, entry: Entry, outcome: asyncio.Future[Outcome]) -> TableLook:
        match await outcome:
            case Outcome.STORED:
                house.settle_in(entry)
                house.outbox.stored()
            case Outcome.FOREIGN_VERSION:
                # The same request has come twice at once, or came back after our restart.
                entry = await house.read(entry)
            case _:
                raise Unavailable(TableReason.UNAVAILABLE, "the table could not be stored")
        return look_of(entry, house.process_id)

    def _checked(self, command: CreateTable) -> tuple[Game, Any]:
        """The lobby has looked at all this; the table looks again, since its events are for ever."""
        rules = BY_NAME.get(command.game)
        if rules is None:
            raise option_invalid("game", "there is no such game")
        try:
            options = msgspec.convert(command.options, rules.options_type)
            rules.check_options(options)
        except msgspec.ValidationError as error:
            raise option_invalid("options", str(error)) from error
        except OptionInvalid as error:
            raise option_invalid(f"options.{error.option}", error.reason) from error
        if command.seats is not None and command.seats not in rules.seat_counts(options):
            raise option_invalid("seats", f"one of {rules.seat_counts(options)}")
        limits = self._settings
        if not limits.bet_coins_min <= command.bet_coins <= limits.bet_coins_max:
            raise option_invalid("bet_coins", f"{limits.bet_coins_min} to {limits.bet_coins_max}")
        if not limits.turn_seconds_min <= command.turn_seconds <= limits.turn_seconds_max:
            raise option_invalid("turn_seconds", f"{limits.turn_seconds_min} to {limits.turn_seconds_max}")
        return rules, options


def option_invalid(field: str, reason: str) -> Refused:
    """A field of the request that is not offered."""
    return refused(TableReason.OPTION_INVALID, fields={field: reason})
