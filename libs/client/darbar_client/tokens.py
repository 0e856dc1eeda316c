"""An account's tokens, and when a new one is asked for. Open this when requests are refused with 401."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from darbar_client.http import REQUEST_SECONDS_MAX, Http
from darbar_contracts.api import REFRESH_REPEAT_SECONDS_MAX, Account, Session

# A token is renewed when this much of its life is left, so that none ends on its way.
MARGIN_SECONDS_MAX = 60.0
MARGIN_SHARE = 0.2
# Anywhere from this share of that time on: those who came together, as after a cut, do not come together again.
RENEWAL_SHARE_MIN = 0.5
# Whatever the server says a token lives, no more are asked for than this.
RENEWAL_SECONDS_MIN = 0.5
# The last try ends in time.
REFRESH_SECONDS_MAX = REFRESH_REPEAT_SECONDS_MAX - REQUEST_SECONDS_MAX


class Tokens:
    """The access token, renewed in time with the refresh token, which works once."""

    def __init__(self, http: Http, session: Session, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._http = http
        self._clock = clock
        self._renewing = asyncio.Lock()
        self._take(session)

    @property
    def account(self) -> Account:
        return self._session.account

    @property
    def seconds_to_renewal(self) -> float:
        """How long the present token is used."""
        return max(0.0, self._renew_at - self._clock())

    async def access(self) -> str:
        """A token that is good for a while."""
        if self.seconds_to_renewal <= 0:
            await self.renewed(self._session.access_token)
        return self._session.access_token

    async def renewed(self, refused: str) -> str:
        """Another token than this one. Two who ask at once cause one request.

        A refresh token that is used again is taken for a stolen one, unless it is used again soon: its answer may have
        been lost. So it is tried again only as long as the last try still comes in time.
        """
        async with self._renewing:
            if self._session.access_token == refused:
                body = {"refresh_token": self._session.refresh_token}
                seconds = min(self._http.seconds, REFRESH_SECONDS_MAX)
                self._take(await self._http.ask("POST", "/v1/sessions", Session, body=body, seconds=seconds))
        return self._session.access_token

    def _take(self, session: Session) -> None:
        self._session = session
        margin_seconds = min(MARGIN_SECONDS_MAX, session.access_seconds * MARGIN_SHARE)
        seconds = (session.access_seconds - margin_seconds) * random.uniform(RENEWAL_SHARE_MIN, 1.0)
        self._renew_at = self._clock() + max(seconds, RENEWAL_SECONDS_MIN)
