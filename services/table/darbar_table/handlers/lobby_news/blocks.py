"""Who at a table has blocked whom, as the lobby says (TL-8). Open this when a blocked player is heard."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable

import structlog

from darbar_contracts import subjects
from darbar_contracts.lobby import ACCOUNTS_ASKED_MAX, BlockChanged, BlockersAnswer, BlockersRequest
from darbar_kit.bus import Bus
from darbar_kit.errors import Refused, Unavailable

LOBBY_SECONDS_MAX = 1.0
# After a silence the lobby is left alone for a while: what is said meanwhile waits for nobody.
SILENCE_SECONDS = 5.0
# Changes are told at once; this is for those that were not.
KEPT_SECONDS = 60.0
# The pair that was asked about longest ago is forgotten first.
PAIRS_MAX = 50_000

log = structlog.get_logger()


class Blocks:
    """What is known of pairs, the blocker first. While the lobby is silent what was known counts, and else nothing."""

    def __init__(self, bus: Bus, *, clock: Callable[[], float]) -> None:
        self._bus = bus
        self._clock = clock
        self._pairs: OrderedDict[tuple[str, str], tuple[bool, float]] = OrderedDict()
        self._silent_until = 0.0
        bus.on_reconnected(self._doubt)

    def known_blockers(self, account_id: str, among: Iterable[str]) -> frozenset[str] | None:
        """Who of these has blocked the account; None when the lobby has to be asked."""
        listeners = set(among) - {account_id}
        return None if self._unknown(account_id, listeners) else self._blockers(account_id, listeners)

    async def blockers(self, account_id: str, among: Iterable[str]) -> frozenset[str]:
        """Who of these has blocked the account; asks the lobby, once and not for long, where nothing is known."""
        listeners = set(among) - {account_id}
        unknown = self._unknown(account_id, listeners)[:ACCOUNTS_ASKED_MAX]
        if unknown:
            await self._ask(account_id, unknown)
        return self._blockers(account_id, listeners)

    async def changed(self, change: BlockChanged) -> None:
        """The lobby tells every process."""
        self._note(change.account_id, change.blocked_id, is_blocked=change.is_blocked)

    def _doubt(self) -> None:
        """Changes may have been missed: what is known counts until the lobby has been asked, which is soon."""
        self._silent_until = 0.0
        for pair, (is_blocked, _) in self._pairs.items():
            self._pairs[pair] = (is_blocked, 0.0)

    async def _ask(self, account_id: str, among: tuple[str, ...]) -> None:
        request = BlockersRequest(account_id, among)
        try:
            answer = await self._bus.request(
                subjects.LOBBY_BLOCKERS, request, BlockersAnswer, timeout_seconds=LOBBY_SECONDS_MAX
            )
        except (Refused, Unavailable) as error:
            self._silent_until = self._clock() + SILENCE_SECONDS
            log.warning("blocks_unknown", reason=error.message)
        else:
            for listener in self._unknown(account_id, among):  # What was told meanwhile is newer.
                self._note(listener, account_id, is_blocked=listener in answer.account_ids)

    def _unknown(self, account_id: str, listeners: Iterable[str]) -> tuple[str, ...]:
        now = self._clock()
        if now < self._silent_until:
            return ()
        nothing = (False, 0.0)
        return tuple(one for one in listeners if self._pairs.get((one, account_id), nothing)[1] <= now)

    def _blockers(self, account_id: str, listeners: Iterable[str]) -> frozenset[str]:
        nothing = (False, 0.0)
        return frozenset(one for one in listeners if self._pairs.get((one, account_id), nothing)[0])

    def _note(self, blocker: str, blocked: str, *, is_blocked: bool) -> None:
        self._pairs[blocker, blocked] = (is_blocked, self._clock() + KEPT_SECONDS)
        self._pairs.move_to_end((blocker, blocked))
        if len(self._pairs) > PAIRS_MAX:
            self._pairs.popitem(last=False)
