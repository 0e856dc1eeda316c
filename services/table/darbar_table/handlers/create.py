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
from darbar_table.domain import decide
from darbar_table.domain.events import TableCreated
from darbar_table.domain.evolve import created
from darbar_table.domain.milestones import milestone_of
from darbar_table.domain.refusals import refused
from darbar_table.domain.seats import STAKES_FACTOR
from darbar_table.engine.live_table import LiveTable
from darbar_table.engine.node import TableNode
from darbar_table.handlers.questions import Questions, look_of
from darbar_table.settings import Settings
from darbar_table.shards.placement import shard_of
from darbar_table.store.chain import first_link, link
from darbar_table.store.store import AWAY, Store
from darbar_table.store.writer import Append, Outcome, Row


class TableCreator:
    """Opens tables for the lobby; the same id with the same body is the same table."""

    def __init__(
        self, settings: Settings, *, store: Store, questions: Questions, node: Callable[[], TableNode]
    ) -> None:
        self._settings = settings
        self._store = store
        self._questions = questions
        self._node = node

    async def create(self, command: CreateTable) -> TableLook:
        """Raises Refused (not_owner, option_invalid, short_of_coins, seated_elsewhere) and Unavailable."""
        node = self._node()
        table_id = UUID(command.table_id)
        shard = shard_of(table_id)
        if shard not in node.shards:
            raise refused(TableReason.NOT_OWNER)
        known = node.owner.live_tables.get(table_id)
        if known is not None:
            return look_of(known, node.process_id)
        rules, options = self._checked(command)
        if await self._questions.balance(command.host.account_id) < STAKES_FACTOR * command.terms.bet_coins:
            raise refused(TableReason.SHORT_OF_COINS, needed_coins=STAKES_FACTOR * command.terms.bet_coins)
        await self._questions.claim(table_id, command.host.account_id)
        try:
            await self._store.open_table(table_id, shard=shard, game=rules.name)
        except AWAY as error:
            raise Unavailable(TableReason.UNAVAILABLE, "the database is away") from error
        return await self._open(node, table_id, decide.create(command, rules, options), rules=rules, options=options)

    async def _open(
        self, node: TableNode, table_id: UUID, event: TableCreated, *, rules: Game, options: Any
    ) -> TableLook:
        codec = node.codecs.of(rules.name)[1]
        at = datetime.now(UTC)
        kind, body = codec.kind_of(event), codec.encode(event)
        chain = link(first_link(table_id), table_id, 1, kind=kind, at=at, body=body)
        table = created(str(table_id), event, rules, options)
        live = LiveTable(table_id, shard=shard_of(table_id), codec=codec, table=table, chain=chain)
        told = milestone_of(event, table, at=at, generation=self._settings.generation)
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        node.writer.offer(
            Append(
                table_id,
                [Row(1, kind, body.decode(), at, chain)],
                shard=live.shard,
                outbox=[(1, msgspec.json.encode(told).decode())],
                done=lambda result: None if outcome.done() else outcome.set_result(result),
            )
        )
        # Shielded: a caller that goes away must not leave a stored table that nobody holds.
        return await asyncio.shield(asyncio.ensure_future(self._opened(node, live, outcome)))

    async def _opened(self, node: TableNode, live: LiveTable, outcome: asyncio.Future[Outcome]) -> TableLook:
        match await outcome:
            case Outcome.STORED:
                node.activate(live)
                node.outbox.stored()
            case Outcome.FOREIGN_VERSION:
                # The same request has come twice at once, or came back after our restart.
                live = await node.read(live)
            case _:
                raise Unavailable(TableReason.UNAVAILABLE, "the table could not be stored")
        return look_of(live, node.process_id)

    def _checked(self, command: CreateTable) -> tuple[Game, Any]:
        """The lobby has looked at all this; the table looks again, since its events are for ever."""
        rules = BY_NAME.get(command.terms.game)
        if rules is None:
            raise option_invalid("game", "there is no such game")
        try:
            options = msgspec.convert(command.terms.options, rules.options_type)
            rules.check_options(options)
        except msgspec.ValidationError as error:
            raise option_invalid("options", str(error)) from error
        except OptionInvalid as error:
            raise option_invalid(f"options.{error.option}", error.reason) from error
        if command.terms.seats not in rules.seat_counts(options):
            raise option_invalid("seats", f"one of {rules.seat_counts(options)}")
        limits = self._settings
        if not limits.bet_coins_min <= command.terms.bet_coins <= limits.bet_coins_max:
            raise option_invalid("bet_coins", f"{limits.bet_coins_min} to {limits.bet_coins_max}")
        if not limits.turn_seconds_min <= command.terms.turn_seconds <= limits.turn_seconds_max:
            raise option_invalid("turn_seconds", f"{limits.turn_seconds_min} to {limits.turn_seconds_max}")
        return rules, options


def option_invalid(field: str, reason: str) -> Refused:
    """A field of the request that is not offered."""
    return refused(TableReason.OPTION_INVALID, fields={field: reason})
