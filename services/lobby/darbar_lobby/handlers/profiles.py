"""What may be known of players, and whom one does not want to meet. Open this when a stranger sees too much."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

import structlog

from darbar_contracts.api import (
    LEADERS_MAX,
    BlockList,
    GameList,
    GamePlayed,
    GamesQuery,
    Leaderboard,
    LeaderboardQuery,
    NewBlock,
    PlayerShown,
    Profile,
)
from darbar_contracts.lobby import BlockChanged
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import LOBBY_BLOCK_CHANGED
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.domain.instants import instant, microseconds
from darbar_lobby.domain.statistics import name_of_week, week_named, week_of
from darbar_lobby.handlers.tables import Tables
from darbar_lobby.store.blocks import BlockStore
from darbar_lobby.store.statistics import GameKey, Player, StatisticsStore, StoredOutcome

log = structlog.get_logger()
_HANDLE = re.compile(r"[0-9a-f]{20}")
_PAGE = re.compile(r"([0-9]{1,17})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_([0-9]{1,9})")


class Profiles:
    """One method for each way to look at what was played. Strangers learn names and handles, never an account's id."""

    def __init__(self, statistics: StatisticsStore, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._statistics = statistics
        self._now = now

    async def own(self, account_id: str) -> Profile:
        """Raises Refused (401) when the token outlived its account."""
        player = await self._statistics.player_of(account_id)
        if player is None:
            raise Refused(Reason.ACCOUNT_UNKNOWN)
        return await self._profile(player, with_private=True)

    async def own_games(self, account_id: str, query: GamesQuery) -> GameList:
        return await self._games(account_id, query, with_private=True)

    async def player(self, handle: str) -> Profile:
        return await self._profile(await self._known(handle), with_private=False)

    async def games_of_player(self, handle: str, query: GamesQuery) -> GameList:
        return await self._games((await self._known(handle)).account_id, query, with_private=False)

    async def leaderboard(self, game: str, query: LeaderboardQuery) -> Leaderboard:
        week = week_of(self._now()) if query.week is None else week_named(query.week)
        if week is None:
            raise Refused(Reason.QUERY_INVALID, "there is no such week", {"field": "week"})
        count = min(query.limit, LEADERS_MAX - query.after)
        leaders = await self._statistics.leaders(game, week, after=query.after, count_max=count + 1)
        end = query.after + count
        has_more = len(leaders) > count and end < LEADERS_MAX
        return Leaderboard(game, name_of_week(week), tuple(leaders[:count]), end if has_more else None)

    async def _known(self, handle: str) -> Player:
        player = await self._statistics.player(handle) if _HANDLE.fullmatch(handle) else None
        if player is None:
            raise Refused(Reason.PLAYER_UNKNOWN)
        return player

    async def _profile(self, player: Player, *, with_private: bool) -> Profile:
        return Profile(
            handle=player.handle,
            name=player.name,
            avatar=player.avatar,
            statistics=await self._statistics.statistics_of(player.account_id),
            last=await self._games(player.account_id, GamesQuery(), with_private=with_private),
        )

    async def _games(self, account_id: str, query: GamesQuery, *, with_private: bool) -> GameList:
        before = None if query.after is None else _key(query.after)
        found = await self._statistics.games_of(
            account_id, before=before, with_private=with_private, count_max=query.limit + 1
        )
        page = found[: query.limit]
        has_more = len(found) > query.limit
        return GameList(tuple(_to_public(stored) for stored in page), _page(page[-1]) if has_more else None)


def _to_public(stored: StoredOutcome) -> GamePlayed:
    outcome = stored.outcome
    return GamePlayed(
        table_id=str(stored.table_id),
        game=stored.game,
        game_number=outcome.game_number,
        at=outcome.at,
        outcome=outcome.kind,
        place=outcome.place,
        points=outcome.points,
        replay=f"/v1/tables/{stored.table_id}/replay",
    )


def _page(last: StoredOutcome) -> str:
    return f"{microseconds(last.outcome.at)}_{last.table_id}_{last.outcome.number}"


def _key(page: str) -> GameKey:
    """Raises Refused for what no page has as its `next`."""
    found = _PAGE.fullmatch(page)
    if found is None:
        raise Refused(Reason.QUERY_INVALID, "this is no `next` of a page", {"field": "after"})
    return GameKey(instant(int(found[1])), UUID(found[2]), int(found[3]))


class Blocks:
    """Players whom one does not want to meet (TL-8). Nobody is told that they are blocked."""

    def __init__(self, *, store: BlockStore, statistics: StatisticsStore, tables: Tables, bus: Bus) -> None:
        self._store = store
        self._bus = bus
        self._statistics = statistics
        self._tables = tables

    async def listed(self, account_id: str) -> BlockList:
        return _shown(await self._store.blocked(account_id))

    async def block(self, account_id: str, body: NewBlock) -> BlockList:
        """Raises Refused: nobody there, or the own account (player_unknown), or no room for one more."""
        if await self._statistics.player_of(account_id) is None:
            raise Refused(Reason.ACCOUNT_UNKNOWN)
        player = await self._meant(account_id, body)
        if player is None or player.account_id == account_id:
            raise Refused(Reason.PLAYER_UNKNOWN)
        await self._store.block(account_id, player.account_id)
        blocked = await self._store.blocked(account_id)
        if player not in blocked:
            raise Refused(Reason.BLOCKS_TOO_MANY)
        await self._tell(BlockChanged(account_id, player.account_id, is_blocked=True))
        return _shown(blocked)

    async def unblock(self, account_id: str, handle: str) -> BlockList:
        if _HANDLE.fullmatch(handle):
            unblocked_id = await self._store.unblock(account_id, handle)
            if unblocked_id is not None:
                await self._tell(BlockChanged(account_id, unblocked_id, is_blocked=False))
        return await self.listed(account_id)

    async def _tell(self, change: BlockChanged) -> None:
        """Tables that are not told ask again before long."""
        try:
            await self._bus.publish(LOBBY_BLOCK_CHANGED, change)
        except Unavailable as error:
            log.warning("block_not_told", reason=error.message)

    async def _meant(self, account_id: str, body: NewBlock) -> Player | None:
        match body:
            case NewBlock(handle=str(handle), table_id=None, seat=None):
                return await self._statistics.player(handle) if _HANDLE.fullmatch(handle) else None
            case NewBlock(handle=None, table_id=str(table_id), seat=int(seat)):
                seats = (await self._tables.table(table_id, account_id)).table.seats
                person = seats[seat] if seat < len(seats) else None
                return None if person is None else await self._statistics.player(person.handle)
            case _:
                return None


def _shown(players: list[Player]) -> BlockList:
    return BlockList(tuple(PlayerShown(player.handle, player.name, player.avatar) for player in players))
