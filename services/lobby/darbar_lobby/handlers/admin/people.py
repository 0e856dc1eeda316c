"""Accounts as administrators see them, and what they do to one. Open this when a ban does not hold."""

from __future__ import annotations

import re
import secrets

from darbar_contracts.admin.api import AccountLookedAt, AdminAccount, LiftBan, NameReset, NewBan
from darbar_contracts.api import GamePlayed, GamesQuery
from darbar_contracts.lobby import AccountShutOut
from darbar_contracts.refusals import Reason
from darbar_contracts.subjects import LOBBY_SHUT_OUT, MEDIA_BAN_VOICE, MEDIA_LIFT_VOICE_BAN, MEDIA_VOICE_RIGHTS
from darbar_contracts.voice import BanVoice, LiftVoiceBan, VoiceBan, VoiceRights, VoiceRightsRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable
from darbar_lobby.domain.names import random_name
from darbar_lobby.handlers.admin.acts import Acts
from darbar_lobby.handlers.profiles import Profiles
from darbar_lobby.store.accounts import AccountStore
from darbar_lobby.store.administrators import SignedIn
from darbar_lobby.store.bans import BanStore, shut_out
from darbar_lobby.store.directory import DirectoryStore

ASK_SECONDS_MAX = 3.0
QUITS_SHOWN_MAX = 50
_ACCOUNT = re.compile("[0-9a-f]{32}|[0-9a-f]{20}")


class People:
    """Media decides about voice notes; bans from tables and from everything are the lobby's."""

    def __init__(
        self,
        *,
        store: BanStore,
        accounts: AccountStore,
        directory: DirectoryStore,
        profiles: Profiles,
        bus: Bus,
        acts: Acts,
    ) -> None:
        self._store = store
        self._accounts = accounts
        self._directory = directory
        self._profiles = profiles
        self._bus = bus
        self._acts = acts

    async def account(self, who: SignedIn, account: str) -> AdminAccount:
        """By id or handle. Raises Refused player_unknown."""
        found = await self._found(account)
        account_id = found.account_id
        await self._acts.looked(who, "look_at_account", f"account:{account_id}")
        seated = await self._directory.seated_at(account_id)
        return AdminAccount(
            account=found,
            sessions=await self._store.sessions(account_id),
            bans=await self._store.bans(account_id),
            voice_ban=await self._voice_ban(account_id),
            seated_at=None if seated is None else seated.table_id,
            quits=tuple(await self._quits(account_id)),
        )

    async def ban(self, who: SignedIn, account: str, body: NewBan) -> None:
        """Raises Refused and Unavailable. A new ban takes the place of the one before."""
        account_id = (await self._found(account)).account_id
        noted = self._acts.noted(
            who, "ban", f"account:{account_id}", reason=body.reason, scope=body.scope, hours=body.hours
        )
        async with noted:
            if body.scope == "voice":
                request = BanVoice(account_id, body.reason, body.hours)
                await self._bus.request(MEDIA_BAN_VOICE, request, VoiceRights, timeout_seconds=ASK_SECONDS_MAX)
                return
            made = await self._store.ban(account_id, body.scope, body.hours, reason=body.reason, administrator=who.name)
            if made is None:
                raise Refused(Reason.PLAYER_UNKNOWN)
            if body.scope == "all":
                await self._accounts.end_sessions(account_id)
            await self._bus.publish(LOBBY_SHUT_OUT, shut_out(account_id, ban_reason=body.reason))

    async def lift(self, who: SignedIn, account: str, body: LiftBan) -> None:
        account_id = (await self._found(account)).account_id
        async with self._acts.noted(who, "lift_ban", f"account:{account_id}", reason=body.reason, scope=body.scope):
            if body.scope == "voice":
                request = LiftVoiceBan(account_id)
                await self._bus.request(MEDIA_LIFT_VOICE_BAN, request, VoiceRights, timeout_seconds=ASK_SECONDS_MAX)
                return
            if not await self._store.lift(account_id, body.scope):
                raise Refused(Reason.BAN_UNKNOWN)
            if not await self._store.bans(account_id):
                message = AccountShutOut(account_id, Reason.BANNED, body.reason, is_over=True)
                await self._bus.publish(LOBBY_SHUT_OUT, message)

    async def reset_name(self, who: SignedIn, account: str, reason: str) -> NameReset:
        """At tables it is shown from the next sitting down on."""
        found = await self._found(account)
        name = random_name(secrets.choice)
        async with self._acts.noted(
            who, "reset_name", f"account:{found.account_id}", reason=reason, before=found.name, after=name
        ):
            if not await self._store.rename(found.account_id, name):
                raise Refused(Reason.PLAYER_UNKNOWN)
        return NameReset(name)

    async def _found(self, account: str) -> AccountLookedAt:
        found = await self._store.looked_at(account) if _ACCOUNT.fullmatch(account) else None
        if found is None:
            raise Refused(Reason.PLAYER_UNKNOWN)
        return found

    async def _voice_ban(self, account_id: str) -> VoiceBan | None:
        request = VoiceRightsRequest(account_id)
        try:
            rights = await self._bus.request(MEDIA_VOICE_RIGHTS, request, VoiceRights, timeout_seconds=ASK_SECONDS_MAX)
        except Unavailable:
            return None
        return rights.ban

    async def _quits(self, account_id: str) -> list[GamePlayed]:
        page = await self._profiles.own_games(account_id, GamesQuery(limit=QUITS_SHOWN_MAX))
        return [game for game in page.games if game.outcome == "quit"]
