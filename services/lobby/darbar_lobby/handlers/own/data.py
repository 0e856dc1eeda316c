"""All that is kept of one's own account: given out, or taken away. Open this about privacy."""

from __future__ import annotations

from darbar_contracts.api import GamePlayed, GamesQuery, PlayerShown
from darbar_contracts.own.data import DeleteMe, MyData, SessionKept
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import LOBBY_SHUT_OUT
from darbar_contracts.tables import handle_of
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused
from darbar_lobby.domain.names import AVATARS
from darbar_lobby.handlers.accounts import Accounts, to_public
from darbar_lobby.handlers.profiles import Blocks, Profiles
from darbar_lobby.store.bans import BanStore, shut_out

DELETED_NAME = "Deleted player"
GAMES_PAGES_MAX = 200


class OwnData:
    """Ledger and logs are kept for ever: by the account's id, which then stands for nobody."""

    def __init__(
        self,
        *,
        accounts: Accounts,
        profiles: Profiles,
        blocks: Blocks,
        store: BanStore,
        bus: Bus,
    ) -> None:
        self._accounts = accounts
        self._profiles = profiles
        self._blocks = blocks
        self._store = store
        self._bus = bus

    async def export(self, account_id: str) -> MyData:
        """The lobby's share; the ledger and each game's log have routes of their own, which it names."""
        account = await self._accounts.account(account_id)
        kept = await self._store.looked_at(account_id)
        if kept is None:
            raise Refused(Reason.ACCOUNT_UNKNOWN)
        sessions = await self._store.sessions(account_id)
        blocked: tuple[PlayerShown, ...] = (await self._blocks.listed(account_id)).blocked
        return MyData(
            account=to_public(account),
            handle=kept.handle,
            created_at=kept.created_at,
            sessions=tuple(SessionKept(one.began_at, one.used_at, one.ended_at) for one in sessions),
            blocked=blocked,
            games=tuple(await self._games(account_id)),
            ledger="/v1/me/wallet/entries.csv",
        )

    async def delete(self, account_id: str, body: DeleteMe) -> None:
        """For good. Raises Refused; who has a password has to give it."""
        if body.handle != handle_of(account_id):
            raise Refused(Reason.CONFIRMATION_WRONG)
        await self._accounts.require_password(account_id, body.password)
        await self._store.delete(account_id, name=DELETED_NAME, avatar=AVATARS[0])
        await self._bus.publish(LOBBY_SHUT_OUT, shut_out(account_id, ban_reason=None))

    async def _games(self, account_id: str) -> list[GamePlayed]:
        games: list[GamePlayed] = []
        after: str | None = None
        for _ in range(GAMES_PAGES_MAX):
            page = await self._profiles.own_games(account_id, GamesQuery(limit=50, after=after))
            games += page.games
            if page.next is None:
                break
            after = page.next
        return games
